"""Reference of operators that move elements: each is a map of offsets, and its transpose adds along the same map."""

import math

import indexing
from indexing import broadcast_map, positive_axes, slice_map, spread, strides_of, take, transpose_map
from rows import FAR, Row, gap
from tensors import Array


def moving_row(find_map):
    """`find_map(attributes, *inputs)` gives (map, shape of the result); only the first input has a gradient."""
    def forward(attributes, x, *others):
        places_of, shape = find_map(attributes, x, *others)
        return take(x, places_of, shape)

    def backward(attributes, inputs, y, dy):
        places_of, _ = find_map(attributes, *inputs)
        return [spread(dy, places_of, inputs[0].shape)] + [None] * (len(inputs) - 1)

    return Row(forward, backward)


def in_place(x, shape):
    if math.prod(shape) != math.prod(x.shape):
        raise ValueError(f"{x.shape} becomes {shape}")
    return range(len(x.data)), tuple(shape)


def reshape(_, x, target):
    shape = [x.shape[i] if size == 0 else size for i, size in enumerate(target.data)]
    known = math.prod(size for size in shape if size != -1)
    return in_place(x, [len(x.data) // known if size == -1 else size for size in shape])


def squeeze(_, x, axes):
    gone = positive_axes(axes.data, x.rank)
    return in_place(x, [size for i, size in enumerate(x.shape) if i not in gone])


def unsqueeze(_, x, axes):
    rank = x.rank + len(axes.data)
    new, rest = positive_axes(axes.data, rank), iter(x.shape)
    return in_place(x, [1 if i in new else next(rest) for i in range(rank)])


def flatten(attributes, x):
    axis = attributes.get("axis", 1)
    return in_place(x, [math.prod(x.shape[:axis]), math.prod(x.shape[axis:])])


def transpose(attributes, x):
    order = tuple(attributes.get("perm", reversed(range(x.rank))))
    return transpose_map(x.shape, order), tuple(x.shape[i] for i in order)


def slice_(_, x, starts, ends, axes, steps):
    first, step_of, sizes = [0] * x.rank, [1] * x.rank, list(x.shape)
    for start, end, axis, step in zip(starts.data, ends.data, axes.data, steps.data):
        axis %= x.rank
        places_of = range(*slice(start, None if step < 0 and end < -x.shape[axis] else end, step).indices(x.shape[axis]))
        first[axis], step_of[axis], sizes[axis] = places_of.start, step, len(places_of)
    return slice_map(x.shape, tuple(first), tuple(step_of), tuple(sizes)), tuple(sizes)


def expand(_, x, shape):
    to = indexing.broadcast_shape(x.shape, tuple(shape.data))
    return broadcast_map(x.shape, to), to


def tile(_, x, repeats):
    shape = tuple(size * count for size, count in zip(x.shape, repeats.data))
    strides = strides_of(x.shape)
    starts = [0]
    for i, size in enumerate(shape):
        starts = [at + k % x.shape[i] * strides[i] for at in starts for k in range(size)]
    return starts, shape


def gather(attributes, x, indices):
    axis = attributes.get("axis", 0) % x.rank
    before, after = x.shape[:axis], x.shape[axis + 1:]
    size, inner = x.shape[axis], math.prod(after)
    if not all(-size <= index < size for index in indices.data):
        raise ValueError(f"an index beyond {size}")
    places_of = [(outer * size + index % size) * inner + k
                 for outer in range(math.prod(before)) for index in indices.data for k in range(inner)]
    return places_of, before + indices.shape + after


def along(attributes, x, indices):
    """For each element of `indices`, the element of x that it names."""
    axis, strides = attributes.get("axis", 0) % x.rank, strides_of(x.shape)
    places_of = slice_map(x.shape, (0,) * x.rank, (1,) * x.rank, indices.shape)
    own = slice_map(indices.shape, (0,) * x.rank, (1,) * x.rank, indices.shape)
    step, size = strides_of(indices.shape)[axis], indices.shape[axis]
    return [at + (index % x.shape[axis] - here // step % size) * strides[axis]
            for at, here, index in zip(places_of, own, indices.data)], indices.shape


SCATTERS = {"none": lambda old, new: new, "add": lambda old, new: old + new, "max": max, "min": min}


def scatter(attributes, x, indices, updates):
    """Of updates of one place the last one stands, or all of them and x combined."""
    places_of, _ = along(attributes, x, indices)
    data, combine = list(x.data), SCATTERS[attributes.get("reduction", "none")]
    for at, value in zip(places_of, updates.data):
        data[at] = combine(data[at], value)
    return Array(x.shape, data)


def scatter_backward(attributes, inputs, y, dy):
    """As PyTorch: where something is written x has no gradient, and each update that of its place, whichever stands. An
    extreme shares it evenly among all that are equal to it."""
    x, indices, updates = inputs
    places_of, shape = along(attributes, x, indices)
    reduction, dx = attributes.get("reduction", "none"), list(dy.data)
    if reduction == "none":
        for at in places_of:
            dx[at] = 0.0
    if reduction in ("none", "add"):
        return [Array(dy.shape, dx), None, take(dy, places_of, shape)]
    counts = [float(old == new) for old, new in zip(x.data, y.data)]
    for at, update in zip(places_of, updates.data):
        counts[at] += update == y.data[at]
    dx = [d / count if old == new else 0.0 for d, count, old, new in zip(dy.data, counts, x.data, y.data)]
    given = [dy.data[at] / counts[at] if update == y.data[at] else 0.0 for at, update in zip(places_of, updates.data)]
    return [Array(dy.shape, dx), None, Array(shape, given)]


def scatter_margin(attributes, x, indices, updates):
    """To where another of a place's numbers becomes the extreme."""
    if attributes.get("reduction", "none") in ("none", "add"):
        return FAR
    rivals = {}
    for at, update in zip(along(attributes, x, indices)[0], updates.data):
        rivals.setdefault(at, [x.data[at]]).append(update)
    sign = 1 if attributes["reduction"] == "max" else -1
    return min((gap([sign * value for value in values]) for values in rivals.values()), default=FAR)


def concat(attributes, *inputs):
    axis = attributes["axis"] % inputs[0].rank
    outer = math.prod(inputs[0].shape[:axis])
    sizes = [math.prod(x.shape[axis:]) for x in inputs]
    shape = list(inputs[0].shape)
    shape[axis] = sum(x.shape[axis] for x in inputs)
    if any(x.shape[:axis] + x.shape[axis + 1:] != inputs[0].shape[:axis] + inputs[0].shape[axis + 1:] for x in inputs):
        raise ValueError("shapes that do not concat")
    data = [value for k in range(outer) for x, size in zip(inputs, sizes) for value in x.data[k * size:(k + 1) * size]]
    return Array(shape, data)


def concat_backward(attributes, inputs, y, dy):
    axis = attributes["axis"] % y.rank
    at, result = 0, []
    for x in inputs:
        first = tuple(at if i == axis else 0 for i in range(y.rank))
        result.append(take(dy, slice_map(dy.shape, first, (1,) * y.rank, x.shape), x.shape))
        at += x.shape[axis]
    return result


def pad(_, x, pads, value):
    rank = x.rank
    shape = [size + pads.data[i] + pads.data[rank + i] for i, size in enumerate(x.shape)]
    result = Array(shape, [float(value.data[0])] * math.prod(shape))
    for at, element in zip(slice_map(result.shape, tuple(pads.data[:rank]), (1,) * rank, x.shape), x.data):
        result.data[at] = element
    return result


def pad_backward(_, inputs, y, dy):
    x, rank = inputs[0], inputs[0].rank
    return [take(dy, slice_map(dy.shape, tuple(inputs[1].data[:rank]), (1,) * rank, x.shape), x.shape), None, None]


def is_kept(shape, is_upper):
    rows, columns = shape[-2:]
    return [(j >= i) if is_upper else (j <= i) for _ in range(math.prod(shape[:-2])) for i in range(rows)
            for j in range(columns)]


def trilu(attributes, x):
    kept = is_kept(x.shape, attributes.get("upper", 1))
    return Array(x.shape, [value if keep else 0.0 for value, keep in zip(x.data, kept)])


def split(attributes, x, sizes):
    axis, at, results = attributes["axis"] % x.rank, 0, []
    for size in sizes.data:
        first = tuple(at if i == axis else 0 for i in range(x.rank))
        shape = x.shape[:axis] + (size,) + x.shape[axis + 1:]
        results.append(take(x, slice_map(x.shape, first, (1,) * x.rank, shape), shape))
        at += size
    if at != x.shape[axis]:
        raise ValueError("a split that does not cover")
    return results


def split_backward(attributes, inputs, y, dy):
    return [concat(attributes, *[d or Array(part.shape, [0.0] * len(part.data)) for part, d in zip(y, dy)]), None]


def one_hot(attributes, indices, depth, values):
    """Along the last dimension."""
    count, (off, on) = depth.data[0], values.data
    return Array(indices.shape + (count,), [on if k == index % count else off for index in indices.data for k in range(count)],
                 values.kind)


ROWS = {
    "Concat": Row(concat, concat_backward),
    "Expand": moving_row(expand),
    "Flatten": moving_row(flatten),
    "Gather": moving_row(gather),
    "GatherElements": moving_row(along),
    "OneHot": Row(one_hot, None),
    "Pad": Row(pad, pad_backward),
    "Reshape": moving_row(reshape),
    "ScatterElements": Row(scatter, scatter_backward, scatter_margin),
    "Slice": moving_row(slice_),
    "Split": Row(split, split_backward),
    "Squeeze": moving_row(squeeze),
    "Tile": moving_row(tile),
    "Transpose": moving_row(transpose),
    "Trilu": Row(trilu, lambda attributes, inputs, y, dy: [trilu(attributes, dy)]),
    "Unsqueeze": moving_row(unsqueeze),
}

EXACT = ROWS.keys() - {"ScatterElements"}
