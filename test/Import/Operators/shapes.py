"""Cases of operators that move, repeat and make elements."""

import math

from case import Case, constant
from tensors import (Array, bools, broadcast, build, floats, ints, reals, reshaped, scalar, transposed, whole)

X = reals([2, 3, 4], seed=3)
COUNTS = whole([2, 3, 4], -9, 9, seed=3)


def shape_of(*sizes):
    return Array([len(sizes)], sizes, "i")


def to_shape(*shape):
    return lambda x, *_: reshaped(x, shape)


def expanded(x, shape):
    return build(broadcast(x.shape, shape.data), lambda i: x[i], x.kind)


def concatenated(axis):
    def want(*parts):
        d, shape = axis % parts[0].rank, list(parts[0].shape)
        places = [(part, k) for part in parts for k in range(part.shape[d])]
        shape[d] = len(places)
        return build(shape, lambda i: places[i[d]][0][i[:d] + (places[i[d]][1],) + i[d + 1:]], parts[0].kind)
    return want


def sliced(x, starts, ends, axes=None, steps=None):
    """Python's own slices mean what ONNX's do; its huge bounds too."""
    axes = axes.data if axes else range(len(starts.data))
    ranges = [range(size) for size in x.shape]
    for k, axis in enumerate(axes):
        step = steps.data[k] if steps else 1
        end = None if step < 0 and ends.data[k] < -x.shape[axis] else ends.data[k]
        ranges[axis] = ranges[axis][starts.data[k]:end:step]
    return build([len(r) for r in ranges], lambda i: x[tuple(r[k] for r, k in zip(ranges, i))], x.kind)


def split(axis, sizes):
    def want(x, *_):
        begin, pieces = 0, []
        for size in sizes:
            pieces.append(sliced(x, ints(begin), ints(begin + size), ints(axis % x.rank)))
            begin += size
        return pieces
    return want


def padded(mode, axes=None):
    def want(x, pads, value=None, axes_input=None):
        low, high = [0] * x.rank, [0] * x.rank
        which = [a % x.rank for a in (axes_input.data if axes_input else axes or range(x.rank))]
        for k, axis in enumerate(which):
            low[axis], high[axis] = pads.data[k], pads.data[k + len(which)]

        def source(i, size):
            if mode == "edge":
                return min(max(i, 0), size - 1)
            if mode == "wrap":
                return i % size
            while mode == "reflect" and not 0 <= i < size:
                i = -i if i < 0 else 2 * (size - 1) - i
            return i

        def element(index):
            place = tuple(source(i - lo, size) for i, lo, size in zip(index, low, x.shape))
            inside = all(0 <= i < size for i, size in zip(place, x.shape))
            return x[place] if inside else value.data[0] if value else 0
        return build([a + b + c for a, b, c in zip(low, x.shape, high)], element, x.kind)
    return want


def trilu(upper):
    def want(x, k=None):
        k = k.data[0] if k else 0
        return build(x.shape, lambda i: x[i] if (i[-1] - i[-2] >= k if upper else i[-1] - i[-2] <= k) else 0, x.kind)
    return want


def tiled(x, repeats):
    return build([a * b for a, b in zip(x.shape, repeats.data)],
                 lambda i: x[tuple(k % size for k, size in zip(i, x.shape))], x.kind)


def ranged(start, limit, delta):
    count = max(0, math.ceil((limit.data[0] - start.data[0]) / delta.data[0]))
    return Array([count], [start.data[0] + k * delta.data[0] for k in range(count)], start.kind)


def eye(k, kind):
    return lambda x: build(x.shape, lambda i: int(i[1] - i[0] == k), kind)


MOVES = [
    *[Case("Reshape", X, shape_of(*request), fixed=[1], want=to_shape(*shape)) for request, shape in
      (((4, 6), (4, 6)), ((-1,), (24,)), ((0, -1), (2, 12)), ((0, 0, 2, -1), (2, 3, 2, 2)), ((2, 1, 12), (2, 1, 12)))],
    Case("Reshape", X, shape_of(6, -1), fixed=[1], allowzero=1, since=14, want=to_shape(6, 4)),
    Case("Reshape", scalar(3.5), shape_of(1, 1), fixed=[1], want=to_shape(1, 1)),
    Case("Reshape", reals([1, 1]), Array([0], [], "i"), fixed=[1], want=to_shape()),
    *[Case("Flatten", X, **({} if axis is None else {"axis": axis}), want=to_shape(*shape)) for axis, shape in
      ((None, (2, 12)), (0, (1, 24)), (2, (6, 4)), (3, (24, 1)), (-1, (6, 4)))],
    Case("Squeeze", reals([1, 3, 1]), want=to_shape(3)),
    Case("Squeeze", reals([1, 3, 1]), ints(-1), fixed=[1], want=to_shape(1, 3)),
    Case("Squeeze", reals([1, 3, 1]), ints(0, 2), fixed=[1], want=to_shape(3)),
    Case("Unsqueeze", X, ints(0, -1), fixed=[1], want=to_shape(1, 2, 3, 4, 1)),
    Case("Unsqueeze", scalar(2.0), ints(0), fixed=[1], want=to_shape(1)),
    Case("Transpose", X, want=lambda x: transposed(x, [2, 1, 0])),
    *[Case("Transpose", x, perm=p, want=lambda x, p=p: transposed(x, p))
      for x in (X, COUNTS) for p in ([1, 2, 0], [0, 2, 1])],
    *[Case("Expand", reals(a), shape_of(*b), fixed=[1], want=expanded) for a, b in
      (([3, 1], (3, 4)), ([3], (2, 3)), ([2, 1, 3], (1, 4, 1)), ([], (2, 2)), ([2, 3], (1,)))],
    *[Case("Concat", *(reals([2, n, 2], seed=n) for n in sizes), axis=axis, want=concatenated(axis))
      for sizes, axis in (((1, 3), 1), ((2,), 0), ((1, 2, 3), -2), ((2, 2), 2))],
    Case("Concat", whole([2], 0, 9), whole([3], 0, 9), axis=0, want=concatenated(0)),
    Case("Concat", X, Array([2, 0, 4], []), axis=1, want=concatenated(1)),
    Case("Concat", Array([0, 3, 4], []), X, Array([0, 3, 4], []), axis=0, want=concatenated(0)),
    Case("Concat", Array([0, 2], []), Array([0, 3], []), axis=1, want=concatenated(1)),
]

PIECES = [
    *[Case("Slice", x, ints(*starts), ints(*ends), *more, fixed=range(1, 5), want=sliced)
      for x in (X, COUNTS) for starts, ends, more in
      (((0, 1), (2, 3), ()), ((1,), (3,), (ints(2),)), ((-2,), (2**63 - 1,), (ints(-2 + 3),)),
       ((3, 0), (0, 5), (ints(2, 1), ints(-2, 2))), ((-1,), (-(2**63),), (ints(2), ints(-1))))],
    Case("Slice", X, ints(2), ints(2), ints(1), fixed=range(1, 5), want=sliced),
    Case("Slice", X, ints(0, kind="I"), ints(1, kind="I"), fixed=range(1, 5), want=sliced),
    *[Case("Split", X, ints(*sizes), fixed=[1], axis=axis, want=split(axis, sizes))
      for axis, sizes in ((2, (1, 3)), (-2, (2, 1)), (0, (1, 1)))],
    Case("Split", X, axis=2, until=17, want=lambda x: split(2, (2, 2))(x)),
    Case("Split", X, axis=2, num_outputs=2, since=18, want=split(2, (2, 2))),
    Case("Split", reals([7]), num_outputs=3, since=18, want=split(0, (3, 3, 1))),
    *[Case("Pad", reals([2, 3]), ints(*pads), *value, fixed=range(1, 4), want=padded("constant"))
      for pads, value in (((0, 1, 2, 0), ()), ((1, 1, 1, 1), (scalar(7.5),)), ((0, -1, 0, 2), (scalar(-1.0),)))],
    Case("Pad", whole([3], 0, 9), ints(1, 2), scalar(5, "i"), fixed=range(1, 4), want=padded("constant")),
    Case("Pad", X, ints(1, 2), None, ints(-1), fixed=range(1, 4), since=18, want=padded("constant")),
    *[Case("Pad", reals([2, 4]), ints(*pads), fixed=range(1, 4), mode=mode, since=19 if mode == "wrap" else 13,
           want=padded(mode)) for mode in ("edge", "reflect", "wrap") for pads in ((0, 3, 0, 2), (1, 1, 1, -1))],
    Case("Pad", X, ints(1, 2), None, ints(2), fixed=range(1, 4), mode="reflect", since=18, want=padded("reflect")),
    *[Case("Trilu", x, *k, upper=upper, fixed=[1], since=14, want=trilu(upper)) for upper in (0, 1)
      for x in (reals([3, 4]), whole([2, 3, 3], 1, 9)) for k in ((), (scalar(1, "i"),), (scalar(-1, "i"),))],
    Case("Trilu", reals([3, 3]), since=14, want=trilu(1)),
    *[Case("Tile", x, ints(*repeats), fixed=[1], want=tiled) for x, repeats in
      ((reals([2, 3]), (2, 1)), (reals([2, 1]), (1, 3)), (whole([3], 0, 9), (4,)), (reals([2, 2, 2]), (2, 3, 2)))],
]

SOURCES = [
    *[Case("Constant", value=x, want=lambda x=x: x) for x in (X, COUNTS, bools([3]), scalar(2.5))],
    Case("Constant", value_float=2.5, want=lambda: scalar(2.5)),
    Case("Constant", value_int=7, want=lambda: scalar(7, "i")),
    Case("Constant", value_ints=[7, 8], want=lambda: ints(7, 8)),
    Case("Constant", value_floats=[0.5, 8.0], want=lambda: floats(0.5, 8.0)),
    Case("ConstantOfShape", shape_of(2, 3), want=lambda _: build([2, 3], lambda i: 0)),
    Case("ConstantOfShape", shape_of(2), value=ints(9), want=lambda _: ints(9, 9)),
    Case("ConstantOfShape", Array([0], [], "i"), value=floats(9), want=lambda _: scalar(9.0)),
    *[Case("Range", *(scalar(x, kind) for x in bounds), want=ranged) for kind, bounds in
      (("i", (1, 7, 2)), ("i", (3, -4, -3)), ("f", (0.5, 2.5, 0.5)), ("f", (1, 1.1, 0.25)), ("I", (0, 3, 1)))],
    Case("Shape", X, want=constant(ints(2, 3, 4))),
    Case("Shape", X, start=1, since=15, want=constant(ints(3, 4))),
    Case("Shape", X, start=-2, end=-1, since=15, want=constant(ints(3))),
    Case("Shape", X, start=-9, end=9, since=15, want=constant(ints(2, 3, 4))),
    Case("Size", X, want=constant(scalar(24, "i"))),
    Case("EyeLike", reals([2, 3]), want=eye(0, "f")),
    Case("EyeLike", whole([3, 3], 0, 9), k=1, want=eye(1, "i")),
    Case("EyeLike", reals([3, 2]), k=-1, dtype=7, want=eye(-1, "i")),
]

CASES = MOVES + PIECES + SOURCES
