"""Weights: a value of a given shape that depends on parameters alone. Most are a parameter; the others are what models make
of parameters, each of which has broken a compiler once: shared, summed, sliced, concatenated, transposed, scaled by a scalar.
"""

import math

from builder import Reject


def plain(b, shape, **options):
    return b.parameter(shape, **options)


def shared(b, shape, **_):
    same = [name for name, array in b.network.parameters.items() if array.shape == tuple(shape)]
    if not same:
        raise Reject("no parameter of this shape")
    return b.random.choice(same)


def equal(b, shape, **_):
    """A parameter of its own that begins as another one does."""
    return b.parameter_of(shape, b.network.parameters[shared(b, shape)].data)


def summed(b, shape, **_):
    return b.emit(b.random.choice(["Add", "Add", "Sub"]), *(b.parameter(shape, 0.5 / math.sqrt(shape[0] or 1)) for _ in "ab"))


def summed_with_row(b, shape, **_):
    """W + v, broadcast."""
    return b.emit("Add", b.parameter(shape), b.parameter(shape[-1:]))


def transposed(b, shape, **_):
    order = list(range(len(shape)))
    b.random.shuffle(order)
    source = [0] * len(shape)
    for to, at in enumerate(order):
        source[at] = shape[to]
    return b.emit("Transpose", b.parameter(source), perm=order)


def plus_transposed(b, shape, **_):
    """W + V^T."""
    if len(shape) != 2:
        raise Reject("no matrix")
    other = b.emit("Transpose", b.parameter(list(shape)[::-1]), perm=[1, 0])
    return b.emit("Add", b.parameter(shape), other)


def sliced(b, shape, **_):
    """A piece of a larger parameter; another piece of it may be taken later."""
    axis = b.random.randrange(len(shape))
    extra = b.random.randrange(1, 4)
    larger = [size + extra * (i == axis) for i, size in enumerate(shape)]
    same = [name for name, array in b.network.parameters.items()
            if array.rank == len(shape) and all(a == s or (i == axis and a > s) for i, (a, s) in enumerate(zip(array.shape, shape)))]
    source = b.random.choice(same) if same and b.random.random() < 0.6 else b.parameter(larger)
    start = b.random.randrange(b.network.parameters[source].shape[axis] - shape[axis] + 1)
    return b.emit("Slice", source, b.integers(start), b.integers(start + shape[axis]), b.integers(axis), b.integers(1))


def joined(b, shape, **_):
    axis = b.random.randrange(len(shape))
    if shape[axis] < 2:
        raise Reject("nothing to join")
    cut = b.random.randrange(1, shape[axis])
    pieces = [[part if i == axis else size for i, size in enumerate(shape)] for part in (cut, shape[axis] - cut)]
    return b.emit("Concat", *(b.parameter(piece, 0.8 / math.sqrt(shape[0])) for piece in pieces), axis=axis)


def scaled(b, shape, **_):
    """By a scalar: a parameter without dimensions, or with one of size 1."""
    scalar = b.parameter(b.random.choice([[], [], [1]]), 0.1, 1.0, leaf="scale")
    operands = [b.parameter(shape), scalar]
    b.random.shuffle(operands)
    return b.emit("Mul", *operands)


def low_rank(b, shape, **_):
    """W + B A."""
    if len(shape) != 2:
        raise Reject("no matrix")
    rank = b.random.choice([1, 2])
    product = b.emit("MatMul", b.parameter([shape[0], rank], 0.4), b.parameter([rank, shape[1]], 0.4))
    return b.emit("Add", b.parameter(shape), product)


def reshaped(b, shape, **_):
    return b.emit("Reshape", b.parameter([math.prod(shape)], 0.4), b.integers(*shape))


def bounded(b, shape, **_):
    return b.emit(b.random.choice(["Tanh", "Sin", "Softsign"]), b.parameter(shape))


def masked(b, shape, **_):
    mask = b.constant(shape, [float(b.random.random() < 0.7) for _ in range(math.prod(shape))])
    return b.emit("Mul", b.parameter(shape), mask)


def picked_rows(b, shape, **_):
    rows = shape[0] + b.random.randrange(3)
    indices = b.integers(*(b.random.randrange(rows) for _ in range(shape[0])))
    return b.emit("Gather", b.parameter([rows, *shape[1:]]), indices, axis=0)


def rearranged(b, shape, **_):
    """Elements of a parameter picked along a dimension, or some of them replaced by another's."""
    axis = b.random.randrange(len(shape))
    def places_of(dims):
        return [b.random.randrange(shape[axis]) for _ in range(math.prod(dims))]
    if b.random.random() < 0.5:
        return b.emit("GatherElements", b.parameter(shape), b.constant(shape, places_of(shape), "i"), axis=axis)
    some = [1 if i == axis else size for i, size in enumerate(shape)]
    indices = b.constant(some, places_of(some), "i")
    return b.emit("ScatterElements", b.parameter(shape), indices, b.parameter(some), axis=axis,
                  reduction=b.random.choice(["none", "add"]))


def normalized(b, shape, **_):
    """g v / |v|."""
    v = b.parameter(shape, 0.5)
    norm = b.emit("ReduceL2", v, b.integers(len(shape) - 1), keepdims=1)
    return b.emit("Mul", b.emit("Div", v, norm), b.parameter(list(shape[:-1]) + [1], 0.1, 0.7, leaf="g"))


def repeated(b, shape, **_):
    """Expanded or tiled along a dimension."""
    axis = b.random.randrange(len(shape))
    source = b.parameter([1 if i == axis else size for i, size in enumerate(shape)])
    if b.random.random() < 0.5:
        return b.emit("Expand", source, b.integers(*shape))
    return b.emit("Tile", source, b.integers(*(size if i == axis else 1 for i, size in enumerate(shape))))


FORMS = [(plain, 40), (shared, 6), (equal, 4), (summed, 4), (summed_with_row, 2), (transposed, 5), (plus_transposed, 3), (sliced, 5), (joined, 4),
         (scaled, 4), (low_rank, 3), (reshaped, 2), (bounded, 2), (masked, 2), (picked_rows, 2), (rearranged, 3), (normalized, 2),
         (repeated, 2)]


def weight(b, shape, plainly=0.5, **options):
    """`options` go to a plain parameter."""
    if b.random.random() < plainly or not shape:
        return plain(b, shape, **options)
    while True:
        mark = b.mark()
        form, = b.random.choices([form for form, _ in FORMS], [share for _, share in FORMS])
        try:
            return form(b, list(shape), **options)
        except Reject:
            b.undo(mark)


def bias(b, size):
    return b.parameter([size], 0.3, leaf="bias") if b.random.random() < 0.85 else weight(b, [size], 0.3)


