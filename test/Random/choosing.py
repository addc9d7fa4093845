"""Reference of operators that choose among the elements of a line: the largest ones, and where the largest is.

What ties is taken in the order in which it stands; of TopK, which promises no order, no two values that decide anything tie.
"""

from indexing import lines, positive_axes
from rows import FAR, Row
from sums import are_tied, gap
from tensors import Array


def axis_of(attributes, x, default=0):
    return positive_axes([attributes.get("axis", default)], x.rank)


def arg_max(attributes, x):
    axes, keep = axis_of(attributes, x), attributes.get("keepdims", 1)
    shape = [1 if i in axes else size for i, size in enumerate(x.shape) if keep or i not in axes]
    return Array(shape, [max(range(len(line)), key=lambda k: x.data[line[k]]) for line in lines(x.shape, axes)], "i")


def over_axis(attributes, x, f):
    return [f([x.data[i] for i in line]) for line in lines(x.shape, axis_of(attributes, x))]


def ordered(attributes, x, count):
    """For each line the places of its `count` largest (or smallest) elements, as offsets and along the line."""
    sign = -1 if attributes.get("largest", 1) else 1
    for line in lines(x.shape, axis_of(attributes, x, -1)):
        along = sorted(range(len(line)), key=lambda k: sign * x.data[line[k]])[:count]
        yield [line[k] for k in along], along


def chosen_lines(attributes, x, count):
    """(shape of the result, its lines)"""
    axes = axis_of(attributes, x, -1)
    shape = tuple(count if i in axes else size for i, size in enumerate(x.shape))
    if count > x.shape[axes[0]]:
        raise ValueError("more than there are")
    return shape, lines(shape, axes)


def top_k(attributes, x, k):
    shape, places_of = chosen_lines(attributes, x, k.data[0])
    values, where = [0.0] * len(x.data), [0] * len(x.data)
    for line, (offsets, along) in zip(places_of, ordered(attributes, x, k.data[0])):
        for to, offset, at in zip(line, offsets, along):
            values[to], where[to] = x.data[offset], at
    count = sum(map(len, places_of))
    return [Array(shape, values[:count]), Array(shape, where[:count], "i")]


def top_k_backward(attributes, inputs, y, dy):
    x, k = inputs
    data, d = [0.0] * len(x.data), dy[0]
    if d is None:
        return [None, None]
    for line, (offsets, _) in zip(chosen_lines(attributes, x, k.data[0])[1], ordered(attributes, x, k.data[0])):
        for to, offset in zip(line, offsets):
            data[offset] += d.data[to]
    return [Array(x.shape, data), None]


def top_k_margin(attributes, x, k):
    """Between neighbours, the first that is left out among them."""
    nearest = FAR
    for offsets, _ in ordered(attributes, x, k.data[0] + 1):
        for one, other in zip(offsets, offsets[1:]):
            nearest = min(nearest, abs(x.data[one] - x.data[other]))
    return nearest


ROWS = {
    "ArgMax": Row(arg_max, None, lambda attributes, x: min(over_axis(attributes, x, gap), default=FAR),
                  lambda attributes, x: any(over_axis(attributes, x, are_tied))),
    "TopK": Row(top_k, top_k_backward, top_k_margin),
}
