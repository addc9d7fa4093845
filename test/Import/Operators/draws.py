"""Operators that draw: the numbers of step 1 under seed 0, by the definition in docs/rationale/Random.md."""

import math

import philox
from case import Case
from tensors import Array, reals, scalar

KEY = philox.key_of_step(0, 1)


def word(site, element):
    return philox.word(site, element, KEY)


def count(shape):
    return math.prod(shape)


def kept(shape, ratio, site):
    threshold = math.floor(philox.as_float32(ratio) * 2 ** 31 + 0.5)
    return [word(site, e) >> 1 >= threshold for e in range(count(shape))]


def dropout(ratio, has_mask):
    def want(x, *_, site):
        keeps = kept(x.shape, ratio, site)
        y = Array(x.shape, [value / (1 - philox.as_float32(ratio)) if keep else 0.0 for value, keep in zip(x.data, keeps)])
        return [y, Array(x.shape, keeps, "b")] if has_mask else y
    return want


def fractions(shape, site):
    return [(word(site, e) >> 8) / 2 ** 24 for e in range(count(shape))]


def uniform(low, high, shape=None):
    def want(*x, site):
        sizes = shape or x[0].shape
        return Array(sizes, [low + (high - low) * u for u in fractions(sizes, site)])
    return want


def bernoulli(p, site):
    return Array(p.shape, [float(u < chance) for u, chance in zip(fractions(p.shape, site), p.data)])


def normal(mean, scale, shape=None):
    def one(site, e):
        first, second = (word(site, e - e % 2 + k) >> 1 for k in (0, 1))
        radius, angle = math.sqrt(-2 * math.log((first + 0.5) / 2 ** 31)), 2 * math.pi * second / 2 ** 31
        return mean + scale * radius * (math.sin(angle) if e % 2 else math.cos(angle))

    def want(*x, site):
        sizes = shape or x[0].shape
        return Array(sizes, [one(site, e) for e in range(count(sizes))])
    return want


X = reals([3, 5], -2, 2)
ON = scalar(1, "b")
CASES = [
    Case("Dropout", X, scalar(0.25), ON, fixed=[1, 2], draws=True, want=dropout(0.25, False)),
    Case("Dropout", X, scalar(0.1), ON, fixed=[1, 2], draws=True, want=dropout(0.1, True)),
    Case("Dropout", X, None, ON, fixed=[2], draws=True, want=dropout(0.5, False)),
    Case("Dropout", reals([2, 3, 7], -1, 1), scalar(0.9), ON, fixed=[1, 2], draws=True, seed=5, want=dropout(0.9, True)),
    Case("RandomUniformLike", X, draws=True, want=uniform(0, 1)),
    Case("RandomUniformLike", X, draws=True, dtype=1, low=-1.0, high=3.0, seed=1.0, want=uniform(-1, 3)),
    Case("RandomUniform", draws=True, shape=[2, 6], low=0.5, want=uniform(0.5, 1, [2, 6])),
    Case("Bernoulli", reals([4, 3], 0, 1), draws=True, want=lambda p, site: bernoulli(p, site)),
    Case("Bernoulli", reals([4, 3], 0, 1), draws=True, dtype=9, want=lambda p, site: Array(p.shape, [x > 0 for x in bernoulli(p, site).data], "b"),
         since=15),
    Case("RandomNormalLike", X, draws=True, want=normal(0, 1)),
    Case("RandomNormalLike", X, draws=True, mean=2.0, scale=0.5, want=normal(2, 0.5)),
    Case("RandomNormal", draws=True, shape=[5], want=normal(0, 1, [5])),
]
