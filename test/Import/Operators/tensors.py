"""Small tensors in plain Python, for reference values: written for reading, sharing nothing with the compiler.

`build(shape, f)` is the whole idea: an element of the result is a function of its index.
"""

import itertools
import math
import struct

FORMATS = {"f": "f", "d": "d", "i": "q", "I": "i", "b": "B"}  # float, double, int64, int32, bool


def narrow(x):
    """x as a float32."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


class Array:
    def __init__(self, shape, data, kind="f"):
        self.shape, self.data, self.kind = tuple(shape), list(data), kind
        assert len(self.data) == math.prod(self.shape), (shape, len(self.data))

    @property
    def rank(self):
        return len(self.shape)

    def __getitem__(self, index):
        """The element at an index; dimensions of size 1 are repeated, leading ones may be left out."""
        index = index[len(index) - self.rank:] if self.rank else ()
        place = 0
        for size, i in zip(self.shape, index):
            place = place * size + (i if size != 1 else 0)
        return self.data[place]

    def cast(self, kind):
        return Array(self.shape, self.data, kind)


def indices(shape):
    return itertools.product(*(range(size) for size in shape))


def build(shape, f, kind="f"):
    return Array(shape, [f(index) for index in indices(shape)], kind)


def broadcast(*shapes):
    rank = max(map(len, shapes))
    wide = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(max(sizes) if min(sizes) > 0 else 0 for sizes in zip(*wide))


def zipped(f, *arrays, kind=None):
    """f element by element, with broadcasting."""
    return build(broadcast(*(a.shape for a in arrays)), lambda i: f(*(a[i] for a in arrays)), kind or arrays[0].kind)


def mapped(f, kind=None):
    """A reference for an operator of one input."""
    return lambda x: Array(x.shape, [f(v) for v in x.data], kind or x.kind)


def along(x, axis):
    """(index without the axis as a slice of one, list of elements along it) for each line of x."""
    axis %= x.rank
    for index in indices(x.shape[:axis] + (1,) + x.shape[axis + 1:]):
        yield index, [x[index[:axis] + (k,) + index[axis + 1:]] for k in range(x.shape[axis])]


def lines(x, axis, f, kind=None):
    """Each line along the axis becomes f(line), a list of any length."""
    axis %= x.rank
    made = {index: f(line) for index, line in along(x, axis)}
    length = len(next(iter(made.values())))
    return build(x.shape[:axis] + (length,) + x.shape[axis + 1:],
                 lambda i: made[i[:axis] + (0,) + i[axis + 1:]][i[axis]], kind or x.kind)


def reduced(x, axes, keep, f, kind=None):
    """f of the list of elements that share a place outside `axes` (None: all of them are reduced)."""
    axes = range(x.rank) if axes is None else [a % x.rank for a in axes]
    groups = {}
    for index in indices(x.shape):
        groups.setdefault(tuple(0 if d in axes else i for d, i in enumerate(index)), []).append(x[index])
    shape = [1 if d in axes else size for d, size in enumerate(x.shape)]
    whole = build(shape, lambda i: f(groups[i]), kind or x.kind)
    return whole if keep else Array([size for d, size in enumerate(shape) if d not in axes], whole.data, whole.kind)


def transposed(x, order):
    return build([x.shape[d] for d in order],
                 lambda i: x[tuple(i[order.index(d)] for d in range(x.rank))], x.kind)


def reshaped(x, shape):
    return Array(shape, x.data, x.kind)


def scattered(x, changes):
    """x with the elements of the dictionary {index: value} replaced."""
    return build(x.shape, lambda i: changes.get(i, x[i]), x.kind)


# Inputs -------------------------------------------------------------------------------------------------------------


def reals(shape, low=-2.0, high=2.0, seed=1, kind="f"):
    state, data = seed * 2654435761 % 2**32, []
    for _ in range(math.prod(shape)):
        state = (state * 1664525 + 1013904223) % 2**32
        data.append(narrow(low + (high - low) * state / 2**32))
    return Array(shape, data, kind)


def whole(shape, low, high, seed=1, kind="i"):
    """Integers in [low, high)."""
    return Array(shape, [math.floor(x) for x in reals(shape, low, high, seed).data], kind)


def bools(shape, seed=1):
    return Array(shape, [int(x > 0) for x in reals(shape, seed=seed).data], "b")


def floats(*data):
    return Array([len(data)], map(narrow, data))


def ints(*data, kind="i"):
    return Array([len(data)], data, kind)


def scalar(x, kind="f"):
    return Array([], [x], kind)
