"""Reference of operators that draw: docs/rationale/Random.md in plain Python. What a node draws depends on its number among those that
draw, on the step and on the sample, so a network is numbered anew for each step (`at_step`)."""

import dataclasses
import math

import places  # noqa: F401  (makes draws of the operators' tests importable)
import philox
from rows import Row
from tensors import Array

OPS = ("Dropout", "RandomUniformLike")
ROWS_ARE, SITE, STEP = "random.rows", "random.site", "random.step"  # of a node; only the first is written to a file, as metadata


def at_step(network, step):
    """The same network, whose nodes know their site and the step."""
    sites = iter(range(len(network.nodes)))
    numbered = [dataclasses.replace(node, attributes=node.attributes | {SITE: next(sites), STEP: step}) if node.op in OPS else node
                for node in network.nodes]
    return dataclasses.replace(network, nodes=numbered)


def describe_rows(dims):
    """Where the batch is: "1 of 3", dimension 1, of which each sample has three; empty where there is none."""
    return next((f"{axis} of {-size}" for axis, size in enumerate(dims) if size < 0), "")


def elements(shape, rows_are):
    """The number of each element of a site, row-major."""
    if not rows_are:
        return list(range(math.prod(shape)))
    axis, inner = map(int, rows_are.split(" of "))
    after, samples = math.prod(shape[axis + 1:]), shape[axis] // inner
    width, numbers = math.prod(shape) // samples, []
    for before in range(math.prod(shape[:axis])):
        for row in range(shape[axis]):
            sample, place = divmod(row, inner)
            first = sample * width + (before * inner + place) * after
            numbers += range(first, first + after)
    return numbers


def words(attributes, shape):
    key = philox.key_of_step(0, attributes.get(STEP, 1))
    return [philox.word(attributes.get(SITE, 0), element, key) for element in elements(shape, attributes[ROWS_ARE])]


def factors(attributes, x, ratio):
    """Of each element: 0 where it is dropped."""
    threshold = math.floor(philox.as_float32(ratio.data[0]) * 2 ** 31 + 0.5)
    kept = 1 / (1 - philox.as_float32(ratio.data[0]))
    return [kept if word >> 1 >= threshold else 0.0 for word in words(attributes, x.shape)]


def dropout(attributes, x, ratio, _):
    return Array(x.shape, [value * factor for value, factor in zip(x.data, factors(attributes, x, ratio))])


def dropout_backward(attributes, inputs, _, dy):
    x, ratio, _ = inputs
    return [Array(x.shape, [d * factor for d, factor in zip(dy.data, factors(attributes, x, ratio))]), None, None]


def uniform(attributes, x):
    return Array(x.shape, [(word >> 8) / 2 ** 24 for word in words(attributes, x.shape)])


ROWS = {"Dropout": Row(dropout, dropout_backward), "RandomUniformLike": Row(uniform, None)}
