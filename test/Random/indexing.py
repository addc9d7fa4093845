"""Which element goes where: maps of offsets that the reference's operators move and sum elements by.

Tensors are flat lists in row-major order. Most operators only move elements: element i of the result is element map[i] of
the operand (`take`), and its cotangent goes back the same way, added where several elements were one (`spread`). The maps
depend on shapes alone and are kept, since every step asks for the same ones.
"""

import functools
import itertools
import math

import places  # noqa: F401  (makes tensors importable)
from tensors import Array


def strides_of(shape):
    strides, stride = [], 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return strides[::-1]


def offsets(counts, strides, start=0):
    """Offsets of all places of a grid of `counts`, row-major."""
    result = [start]
    for count, stride in zip(counts, strides):
        result = [at + k * stride for at in result for k in range(count)]
    return result


@functools.lru_cache(4096)
def broadcast_map(shape, to):
    strides = [0] * (len(to) - len(shape)) + [0 if size == 1 else stride for size, stride in zip(shape, strides_of(shape))]
    return offsets(to, strides)


@functools.lru_cache(1024)
def transpose_map(shape, order):
    strides = strides_of(shape)
    return offsets([shape[i] for i in order], [strides[i] for i in order])


@functools.lru_cache(1024)
def slice_map(shape, starts, steps, sizes):
    strides = strides_of(shape)
    start = sum(at * stride for at, stride in zip(starts, strides))
    return offsets(sizes, [step * stride for step, stride in zip(steps, strides)], start)


@functools.lru_cache(1024)
def reduce_map(shape, axes):
    """For each element of the operand, the element of the result that it is summed into."""
    kept = strides_of([1 if i in axes else size for i, size in enumerate(shape)])
    return offsets(shape, [0 if i in axes else kept[i] for i in range(len(shape))])


@functools.lru_cache(1024)
def lines(shape, axes):
    """Lists of offsets: the elements that `axes` run over, one list for each place of the other dimensions."""
    strides = strides_of(shape)
    others = [i for i in range(len(shape)) if i not in axes]
    starts = offsets([shape[i] for i in others], [strides[i] for i in others])
    steps = offsets([shape[i] for i in axes], [strides[i] for i in axes])
    return [[start + step for step in steps] for start in starts]


def broadcast_shape(*shapes):
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    result = []
    for sizes in zip(*padded):
        size = next((size for size in sizes if size != 1), 1)
        if any(each not in (1, size) for each in sizes):
            raise ValueError(f"shapes {shapes} do not broadcast")
        result.append(size)
    return tuple(result)


def take(x, places_of, shape):
    data = x.data
    return Array(shape, [data[i] for i in places_of], x.kind)


def spread(x, places_of, shape):
    """The transpose of `take`: what came from one element is added there."""
    data = [0.0] * math.prod(shape)
    for value, i in zip(x.data, places_of):
        data[i] += value
    return Array(shape, data)


def broadcast(x, shape):
    return x if x.shape == tuple(shape) else take(x, broadcast_map(x.shape, tuple(shape)), shape)


def unbroadcast(dy, shape):
    return dy if dy.shape == tuple(shape) else spread(dy, broadcast_map(tuple(shape), dy.shape), shape)


def positive_axes(axes, rank):
    return tuple(sorted(axis % rank for axis in axes)) if rank else ()


# Products: each is a list of (element of the result, of the one operand, of the other), all of which are summed. ---------


@functools.lru_cache(256)
def matmul_terms(a, b):
    """Shapes of at least two dimensions; the leading ones broadcast. Returns (shape, terms)."""
    (n, k), (k2, m) = a[-2:], b[-2:]
    if k != k2:
        raise ValueError(f"matmul of {a} and {b}")
    batch = broadcast_shape(a[:-2], b[:-2])
    starts = zip(broadcast_map(a[:-2], batch), broadcast_map(b[:-2], batch))
    terms = [((at * n + i) * m + j, in_a * n * k + i * k + l, in_b * k * m + l * m + j)
             for at, (in_a, in_b) in enumerate(starts) for i in range(n) for j in range(m) for l in range(k)]
    return batch + (n, m), terms


def window_size(size, kernel, stride, dilation, low, high):
    return (size + low + high - dilation * (kernel - 1) - 1) // stride + 1


@functools.lru_cache(256)
def window_terms(size, kernel, stride, dilation, low, high):
    """(place in the result, place in the operand, place in the kernel) along one dimension."""
    places_of = []
    for out in range(window_size(size, kernel, stride, dilation, low, high)):
        for k in range(kernel):
            at = out * stride + k * dilation - low
            if 0 <= at < size:
                places_of.append((out, at, k))
    return places_of


@functools.lru_cache(256)
def convolution_terms(x, w, group, strides, dilations, pads):
    """x: [n, c, spatial...], w: [m, c / group, kernel...]. Returns (shape, terms)."""
    rank = len(x) - 2
    if x[1] != w[1] * group or w[0] % group:
        raise ValueError(f"convolution of {x} by {w} in {group} groups")
    spatial = tuple(window_size(x[2 + i], w[2 + i], strides[i], dilations[i], pads[i], pads[rank + i]) for i in range(rank))
    if any(size < 1 for size in spatial):
        raise ValueError(f"a window {w} that is larger than {x}")
    shape = (x[0], w[0]) + spatial
    along = [window_terms(x[2 + i], w[2 + i], strides[i], dilations[i], pads[i], pads[rank + i]) for i in range(rank)]
    out_strides, x_strides, w_strides = strides_of(shape), strides_of(x), strides_of(w)
    terms = []
    for places_of in itertools.product(*along):
        out, at, kernel = (sum(place[which] * strides_[2 + i] for i, place in enumerate(places_of))
                           for which, strides_ in enumerate((out_strides, x_strides, w_strides)))
        for n, m, c in itertools.product(range(x[0]), range(w[0]), range(w[1])):
            channel = m // (w[0] // group) * w[1] + c
            terms.append((out + n * out_strides[0] + m * out_strides[1], at + n * x_strides[0] + channel * x_strides[1],
                          kernel + m * w_strides[0] + c * w_strides[1]))
    return shape, terms


@functools.lru_cache(64)
def einsum_terms(equation, a, b):
    """Of two operands, each letter once in an operand. Returns (shape, terms)."""
    operands, result = equation.replace(" ", "").split("->")
    one, other = operands.split(",")
    sizes = dict(zip(one, a)) | dict(zip(other, b))
    if [sizes[letter] for letter in one] != list(a):
        raise ValueError(f"{equation} of {a} and {b}")
    shape = tuple(sizes[letter] for letter in result)
    letters = result + "".join(letter for letter in sizes if letter not in result)
    counts = [sizes[letter] for letter in letters]
    along = [offsets(counts, [dict(zip(names, strides_of(dims))).get(letter, 0) for letter in letters])
             for names, dims in ((result, shape), (one, a), (other, b))]
    return shape, list(zip(*along))


def sum_terms(shape, terms, a, b):
    data, one, other = [0.0] * math.prod(shape), a.data, b.data
    for out, i, j in terms:
        data[out] += one[i] * other[j]
    return Array(shape, data)


def sum_terms_backward(terms, a, b, dy):
    da, db, one, other, dout = [0.0] * len(a.data), [0.0] * len(b.data), a.data, b.data, dy.data
    for out, i, j in terms:
        da[i] += dout[out] * other[j]
        db[j] += dout[out] * one[i]
    return Array(a.shape, da), Array(b.shape, db)
