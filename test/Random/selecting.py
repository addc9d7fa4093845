"""Moves that choose, mask and group: top-k, hard attention, routers, rows that see no key, constants that are gathered,
compared and broadcast, maxima of groups, gates. What tensor parallelism cuts is here chosen from, and looked at as a whole.
"""

import math

from builder import Reject
from elementwise import STOP
from weights import weight


def sample_dims(b, x, rank=2):
    """Dimensions of a value whose first one is the batch and whose others are its own."""
    dims = b.dims(x)
    if len(dims) < rank or dims[0] != -1 or any(size < 1 for size in dims[1:]):
        raise Reject("no samples of this rank")
    return dims


def any_axis(b, x, least=2):
    able = [i for i in b.free_axes(x) if b.dims(x)[i] >= least]
    if not able:
        raise Reject("nothing to choose from")
    return b.random.choice(able)


def back_to(b, x, y):
    """Onto the shape of x, which y broadcasts to."""
    return b.emit(b.random.choice(["Mul", "Add", "Sub"]), x, y)


# What is chosen ------------------------------------------------------------------------------------------------------


def maximum(b, x):
    """The largest of a dimension, subtracted or compared with; or all of softmax written by hand."""
    axis = any_axis(b, x)
    top = b.emit(b.random.choice(["ReduceMax", "ReduceMax", "ReduceMin"]), x, b.integers(axis), keepdims=1)
    form = b.random.randrange(5)
    if form == 0:
        return b.emit("Sub", x, top)
    if form == 1:  # hard attention: with the largest alone
        return b.emit("Where", b.emit("Equal", x, top), x, b.number(0.0))
    if form == 2:
        return softmax_by_hand(b, x, axis)
    if form == 3:
        return back_to(b, x, top)
    return top


def softmax_by_hand(b, x, axis):
    top = b.emit("ReduceMax", x, b.integers(axis), keepdims=1)
    if b.random.random() < 0.5:
        top = b.emit("Identity", top, **{STOP: "1"})
    powers = b.emit("Exp", b.emit("Sub", x, top))
    return b.emit("Div", powers, b.emit("ReduceSum", powers, b.integers(axis), keepdims=1))


def hard_shares(b, scores):
    """All to the largest along the last dimension; straight through, the gradient is that of softmax."""
    size = b.dims(scores)[-1]
    soft = b.emit("Softmax", scores, axis=-1)
    at = b.emit("ArgMax", soft, axis=-1, keepdims=1)
    hard = b.emit("Cast", b.emit("Equal", at, b.integers(*range(size))), to=1)
    return b.emit("Add", b.emit("Sub", hard, b.emit("Identity", soft, **{STOP: "1"})), soft)


def arg_max(b, x):
    """Where the largest is: as one-hot numbers, as a row of a table, or to pick another value's element."""
    axis = any_axis(b, x)
    size = b.dims(x)[axis]
    form = b.random.randrange(3)
    if form == 0:
        if axis != b.rank(x) - 1:
            raise Reject("not the last dimension")
        at = b.emit("ArgMax", x, axis=axis, keepdims=0)
        return b.emit("Mul", x, b.emit("OneHot", at, b.number(size, "i"), b.constant([2], [0.0, 1.0]), axis=-1))
    if form == 1:
        at = b.emit("ArgMax", x, axis=axis, keepdims=0)
        return b.emit("Gather", weight(b, [size, b.random.choice([2, 3])], 0.8), at, axis=0)
    at = b.emit("ArgMax", x, axis=axis, keepdims=1)
    return back_to(b, x, b.emit("GatherElements", x, at, axis=axis))


def top_k(b, x):
    axis = any_axis(b, x)
    size = b.dims(x)[axis]
    k = b.random.choice([1, 2, size - 1, size])
    values, at = b.emit("TopK", x, b.integers(max(k, 1)), outputs=2, axis=axis if b.random.random() < 0.5 else axis - b.rank(x),
                        largest=int(b.random.random() < 0.8))
    form = b.random.randrange(4)
    if form == 0:  # the same elements of another value
        other = b.emit("Tanh", x)
        return b.emit("Mul", b.emit("Softmax", values, axis=axis), b.emit("GatherElements", other, at, axis=axis))
    if form == 1:  # what is below the last of them counts for nothing
        last = b.emit("ReduceMin", values, b.integers(axis), keepdims=1)
        return b.emit("Where", b.emit("Less", x, last), b.number(0.0), x)
    if form == 2:
        return b.emit("ReduceMean", values, b.integers(axis), keepdims=b.random.randrange(2))
    return values


def router(b, x):
    """Rows of a table for the best of some scores, weighted by a softmax over them."""
    dims = sample_dims(b, x)
    experts, k = b.random.choice([(2, 1), (4, 1), (4, 2), (3, 2)])
    scores = b.emit("MatMul", x, weight(b, [dims[-1], experts], 0.8))
    if b.random.random() < 0.3:
        scores = b.emit("Softmax", scores, axis=-1)
    values, at = b.emit("TopK", scores, b.integers(k), outputs=2, axis=-1)
    rows = b.emit("Gather", weight(b, [experts, dims[-1]], 0.8), at, axis=0)
    shares = b.emit("Unsqueeze", b.emit("Softmax", values, axis=-1), b.integers(-1))
    chosen = b.emit("ReduceSum", b.emit("Mul", rows, shares), b.integers(-2), keepdims=0)
    return b.emit("Add", x, chosen) if b.random.random() < 0.5 else chosen


def experts(b, x):
    """A mixture: each expert's block, weighted by the softmax over the best scores, and zeros for the others."""
    dims = sample_dims(b, x, 3)
    size, count, hidden = dims[-1], b.tp * b.random.choice([2, 3]), b.random.choice([1, 2, 3])
    scores = b.emit("MatMul", x, weight(b, [size, count], 0.8))
    values, at = b.emit("TopK", scores, b.integers(b.random.choice([1, 2])), outputs=2, axis=-1)
    zeros = b.emit("Mul", scores, b.number(0.0)) if b.random.random() < 0.5 else b.emit("Sub", scores, scores)
    shares = b.emit("ScatterElements", zeros, at, b.emit("Softmax", values, axis=-1), axis=-1)
    inner = b.emit("Einsum", x, b.parameter([count, size, hidden], 0.5), equation="bsd,edh->bseh")
    inner = b.emit(b.random.choice(["Relu", "Tanh", "Gelu"]), inner)
    outer = b.emit("Einsum", inner, b.parameter([count, hidden, size], 0.5), equation="bseh,ehd->bsed")
    return b.emit("Einsum", shares, outer, equation="bse,bsed->bsd")


def selected(b, x, _=None):
    """Features that tp cuts between two products, and something between them that looks at several of them."""
    size = sample_dims(b, x)[-1]
    hidden = b.tp * b.random.choice([2, 4, 6])
    y = b.emit("MatMul", x, weight(b, [size, hidden], 0.8))
    if b.random.random() < 0.5:
        y = b.emit("Add", y, b.parameter([hidden], 0.3, leaf="bias"))
    move, = b.random.choices([move for move, _ in BETWEEN], [share for _, share in BETWEEN])
    y = move(b, y)
    if b.rank(y) != b.rank(x):
        raise Reject("not between two products")
    return b.emit("MatMul", y, weight(b, [b.dims(y)[-1], size], 0.8))


def gather_along(b, x):
    """Elements of each sample by indices that are an input, along a dimension that tp may cut or beside it."""
    dims = sample_dims(b, x)
    axis = b.random.randrange(1, len(dims))
    shape = [b.random.choice([1, 2, size]) if i == axis else size for i, size in enumerate(dims)]
    y = b.emit("GatherElements", x, b.input(shape, "i", dims[axis]), axis=axis)
    return back_to(b, x, y) if shape[axis] in (1, dims[axis]) and b.random.random() < 0.6 else y


# Groups --------------------------------------------------------------------------------------------------------------


def grouped(b, x):
    """`view(..., groups, n / groups)`, something of each group, and mostly back."""
    dims = b.dims(x)
    able = [i for i in b.free_axes(x) if dims[i] > 3 and any(dims[i] % k == 0 for k in range(2, dims[i]))]
    if not able:
        raise Reject("no groups")
    axis = able[-1] if b.random.random() < 0.6 else b.random.choice(able)
    groups = b.random.choice([k for k in range(2, dims[axis]) if dims[axis] % k == 0])
    parts = dims[:axis] + [groups, dims[axis] // groups] + dims[axis + 1:]
    y = reshape(b, x, parts)
    along = axis + b.random.randrange(2)
    form = b.random.randrange(7)
    if form == 0:  # maxout
        return b.emit("ReduceMax", y, b.integers(along), keepdims=0)
    if form == 1:
        values, _ = b.emit("TopK", y, b.integers(b.random.randrange(1, parts[along] + 1)), outputs=2, axis=along)
        return b.emit("ReduceSum", values, b.integers(along), keepdims=0)
    if form == 2:  # sorted groups
        y, _ = b.emit("TopK", y, b.integers(parts[along]), outputs=2, axis=along, largest=b.random.randrange(2))
    elif form == 3:
        y = b.emit("Softmax", y, axis=along)
    elif form == 4:
        y = b.emit("Sub", y, b.emit(b.random.choice(["ReduceMax", "ReduceMean"]), y, b.integers(along), keepdims=1))
    elif form == 5:
        shape = [groups if i == axis else 1 for i in range(axis, len(parts))]
        y = b.emit(b.random.choice(["Mul", "Add"]), y, constant(b, shape) if b.random.random() < 0.5 else b.parameter(shape, 0.3, 0.8))
    else:
        at = b.emit("ArgMax", y, axis=along, keepdims=1)
        y = b.emit("Mul", y, b.emit("GatherElements", y, at, axis=along))
    return reshape(b, y, dims)


def reshape(b, x, dims):
    return b.emit("Reshape", x, b.integers(*(size if size > 0 else -1 for size in dims)))


# Constants -----------------------------------------------------------------------------------------------------------


def constant(b, shape):
    """Numbers of one sign and the other, some of them equal."""
    return b.constant(shape, [b.random.choice([-0.75, -0.25, 0.5, 0.5, 1.25]) for _ in range(math.prod(shape))])


def with_constant(b, x):
    """By a constant of a shape that broadcasts, which was gathered, expanded or computed."""
    dims = b.dims(x)
    kept = dims[b.random.randrange(len(dims) + 1):]
    shape = [1 if size < 0 or b.random.random() < 0.25 else size for size in kept]
    c = constant(b, shape)
    form = b.random.randrange(4)
    if form == 0 and shape:
        axis = b.random.randrange(len(shape))
        c = b.emit("Gather", c, b.integers(*(b.random.randrange(shape[axis]) for _ in range(shape[axis]))), axis=axis)
    elif form == 1 and shape:
        c = b.emit("Expand", c, b.integers(*(size if size > 0 else 1 for size in kept)))
    elif form == 2:
        c = b.emit("Mul", c, b.number(0.5))
    if b.random.random() < 0.4:
        keep = b.emit(b.random.choice(["Greater", "LessOrEqual"]), *([x, c] if b.random.random() < 0.5 else [c, b.number(0.3)]))
        return b.emit("Where", keep, x, b.number(0.0) if b.random.random() < 0.5 else b.emit("Tanh", x))
    return b.emit(b.random.choice(["Add", "Mul", "Max"]), x, c)


def constant_types(b, x):
    """Rows of a table by indices that are known, as of token types and positions: [length], [1, length] or one row."""
    dims = sample_dims(b, x, 3)
    length, size = dims[-2:]
    rows = b.random.choice([2, 3, length])
    table = weight(b, [rows, size], 0.9, deviation=0.4)
    at = [b.random.randrange(rows) for _ in range(length)]
    form = b.random.randrange(4)
    if form == 0:
        at, shape = [0] * length, [1, length]
    elif form == 1:
        shape = [length]
    elif form == 2:
        shape = [1, length]
    else:
        at, shape = at[:1], [1, 1]
    y = b.emit("Gather", table, b.constant(shape, at, "i"), axis=0)
    if b.random.random() < 0.5:
        y = b.emit("Expand", y, b.integers(1, length, size))
    return b.emit("Add", x, y)


def constant_rows(b, x):
    """Rows of a constant table by an input of ids."""
    dims = sample_dims(b, x)
    rows = b.random.choice([2, 4, 5])
    ids = b.input(dims[:-1], "i", rows)
    return b.emit(b.random.choice(["Add", "Mul"]), x, b.emit("Gather", constant(b, [rows, dims[-1]]), ids, axis=0))


# Gates and ties ------------------------------------------------------------------------------------------------------


def gate(b, x, pool):
    """m x + (1 - m) y."""
    size = b.dims(x)[-1] if b.rank(x) else 1
    fits = [name for name in pool if b.kind(name) == "f" and b.dims(name) == b.dims(x)]
    m = b.parameter([size if size > 0 else 1], 0.2, 0.6, leaf="gate")
    if b.random.random() < 0.4:
        m = b.emit("Sigmoid", m)
    y = b.emit(b.random.choice(["Tanh", "Sin"]), b.random.choice(fits))
    one, rest = b.emit("Mul", x, m), b.emit("Sub", b.number(1.0), m)
    other = b.emit("Mul", *([y, rest] if b.random.random() < 0.5 else [rest, y]))
    return b.emit("Add", one, other)


def tied(b, x):
    """The largest of numbers that tie exactly, each with a parameter of its own that began equal."""
    dims = sample_dims(b, x)
    ids = b.emit("Cast", b.input(dims, "i", 3), to=1)
    axis = b.random.randrange(1, len(dims))
    own = [size if i == axis else 1 for i, size in enumerate(dims)][1:]
    begin = [0.25] * math.prod(own)
    numbers = b.emit("Add", ids, b.parameter_of(own, begin))
    form = b.random.randrange(3)
    if form == 0:
        top = b.emit(b.random.choice(["ReduceMax", "ReduceMin"]), numbers, b.integers(axis), keepdims=1)
    elif form == 1:
        top = b.emit(b.random.choice(["Max", "Min"]), numbers, b.emit("Add", ids, b.parameter_of(own, begin)))
    else:
        top = b.emit("GatherElements", numbers, b.emit("ArgMax", numbers, axis=axis, keepdims=1), axis=axis)
    return b.emit("Mul", x, b.emit("Tanh", top))


# Masks ---------------------------------------------------------------------------------------------------------------


def draw_mask(b, length):
    """Which keys a query sees: [queries, keys], or one for each sample, [batch, 1, queries or 1, keys]. Some rows see nothing."""
    causal = [int(j <= i) for i in range(length) for j in range(length)]
    if b.random.random() < 0.5:
        blind = [b.random.random() < 0.3 for _ in range(length)]
        return b.constant([length, length], [seen and not blind[at // length] for at, seen in enumerate(causal)], "b")
    padding = b.emit("Equal", b.input([-1, length], "i", 3), b.number(0, "i"))
    seen = b.emit("Unsqueeze", b.emit("Not", padding), b.integers(1, 2))
    if b.random.random() < 0.6:
        return b.emit("And", seen, b.constant([length, length], causal, "b"))
    return seen


def masked_probabilities(b, scores):
    """Softmax over the keys that a mask leaves. Rows that see none are alike to all keys where what hides them is a number,
    and zeros where it is -inf."""
    mask = draw_mask(b, b.dims(scores)[-1])
    form = b.random.randrange(3)
    if form == 0:
        return b.emit("Softmax", b.emit("Where", mask, scores, b.number(-8.0)), axis=-1)
    hidden = b.constant([], [-math.inf])
    if form == 1:
        scores = b.emit("Where", mask, scores, hidden)
    else:
        scores = b.emit("Add", scores, b.emit("Where", mask, b.number(0.0), hidden))
    y = b.emit("Softmax", scores, axis=-1)
    return b.emit("Where", b.emit("IsNaN", y), b.number(0.0), y)


def masked_pool(b, x):
    """The mean over the places of each sample that its mask leaves, none at all perhaps; or the largest."""
    dims = sample_dims(b, x, 3)
    keep = b.emit("Greater", b.input(dims[:2], "i", 3), b.number(0, "i"))
    shape = b.integers(*range(2, len(dims)))
    if b.random.random() < 0.5:
        chosen = b.emit("Where", b.emit("Unsqueeze", keep, shape), x, b.number(-8.0))
        return b.emit("ReduceMax", chosen, b.integers(1), keepdims=b.random.randrange(2))
    count = b.emit("Unsqueeze", b.emit("Cast", keep, to=1), shape)
    total = b.emit("ReduceSum", b.emit("Mul", x, count), b.integers(1), keepdims=0)
    number = b.emit("ReduceSum", count, b.integers(1), keepdims=0)
    return b.emit("Div", total, b.emit("Max", number, b.number(1.0)))


BETWEEN = [(grouped, 8), (maximum, 5), (top_k, 4), (arg_max, 3), (gather_along, 3), (with_constant, 3), (constant_types, 1), (tied, 2)]

# (move, how often)
def mixed(b, x):
    """By a parameter and what it leaves of one, as gates of recurrent units are."""
    share = b.parameter([b.dims(x)[-1]] if b.free_axes(x) and b.dims(x)[-1] > 0 else [], 0.2, 0.5, leaf="mix")
    other = b.emit(b.random.choice(["Tanh", "Sin", "Sigmoid"]), x)
    rest = b.emit("Sub", b.number(1.0), share)
    return b.emit("Add", b.emit("Mul", x, share), b.emit("Mul", other, rest))


MOVES = [(mixed, 3), (maximum, 5), (arg_max, 3), (top_k, 4), (router, 3), (experts, 2), (selected, 4), (gather_along, 3), (grouped, 5), (with_constant, 5), (constant_types, 3),
         (constant_rows, 2), (tied, 2), (masked_pool, 2)]
PAIRS = [(gate, 3)]
