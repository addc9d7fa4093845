"""Reference of element-wise operators: value, derivative, and how far an input is from where the derivative jumps.

Written from the mathematics, in float64. A row of UNARY or BINARY is functions of numbers; broadcasting and its transpose
are done once for all of them.
"""

import math
from dataclasses import dataclass
from typing import Callable

from indexing import broadcast, broadcast_shape, unbroadcast
from rows import FAR, Row, apart
from tensors import Array


@dataclass(frozen=True)
class Unary:
    value: Callable
    slope: Callable  # of (x, y)
    kinks: tuple = ()
    low: float = -3.0  # arguments that a generated model may have
    high: float = 3.0


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def softplus(x):
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def bell(x):
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def normal(x):
    return (1 + math.erf(x / math.sqrt(2))) / 2


def mish_slope(x, _):
    t = math.tanh(softplus(x))
    return t + x * (1 - t * t) * sigmoid(x)


def zero(*_):
    return 0.0


UNARY = {
    "Abs": Unary(abs, lambda x, y: 1.0 if x > 0 else -1.0, (0,)),
    "Atan": Unary(math.atan, lambda x, y: 1 / (1 + x * x)),
    "Ceil": Unary(math.ceil, zero, (-2, -1, 0, 1, 2)),
    "Cos": Unary(math.cos, lambda x, y: -math.sin(x)),
    "Elu": Unary(lambda x: x if x > 0 else math.expm1(x), lambda x, y: 1.0 if x > 0 else y + 1),
    "Erf": Unary(math.erf, lambda x, y: 2 / math.sqrt(math.pi) * math.exp(-x * x)),
    "Exp": Unary(math.exp, lambda x, y: y, high=1.5),
    "Floor": Unary(math.floor, zero, (-2, -1, 0, 1, 2)),
    "Gelu": Unary(lambda x: x * normal(x), lambda x, y: normal(x) + x * bell(x)),
    "HardSigmoid": Unary(lambda x: min(1, max(0, 0.2 * x + 0.5)), lambda x, y: 0.2 if -2.5 < x < 2.5 else 0.0, (-2.5, 2.5)),
    "HardSwish": Unary(lambda x: x * min(1, max(0, x / 6 + 0.5)),
                       lambda x, y: x / 3 + 0.5 if -3 < x < 3 else float(x > 0), (-3, 3)),
    "LeakyRelu": Unary(lambda x: x if x > 0 else 0.01 * x, lambda x, y: 1.0 if x > 0 else 0.01, (0,)),
    "Log": Unary(math.log, lambda x, y: 1 / x, low=0.2),
    "Mish": Unary(lambda x: x * math.tanh(softplus(x)), mish_slope),
    "Neg": Unary(lambda x: -x, lambda x, y: -1.0),
    "Reciprocal": Unary(lambda x: 1 / x, lambda x, y: -y * y, low=0.3),
    "Relu": Unary(lambda x: max(x, 0.0), lambda x, y: float(x > 0), (0,)),
    "Round": Unary(round, zero, (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5)),
    "Selu": Unary(lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x)),
                  lambda x, y: 1.0507009873554805 if x > 0 else y + 1.0507009873554805 * 1.6732632423543772, (0,)),
    "Sigmoid": Unary(sigmoid, lambda x, y: y * (1 - y)),
    "Sign": Unary(lambda x: (x > 0) - (x < 0), zero, (0,)),
    "Sin": Unary(math.sin, lambda x, y: math.cos(x)),
    "Softplus": Unary(softplus, lambda x, y: sigmoid(x)),
    "Softsign": Unary(lambda x: x / (1 + abs(x)), lambda x, y: 1 / (1 + abs(x)) ** 2),
    "Sqrt": Unary(math.sqrt, lambda x, y: 0.5 / y, low=0.2),
    "Tanh": Unary(math.tanh, lambda x, y: 1 - y * y),
}

def share(first, second):
    """To the one that was chosen; of a tie half to each."""
    return (0.5, 0.5) if first == second else (float(first), float(second))


# (value, derivatives by a and by b as functions of (a, b, y), distance to the nearest kink or None)
BINARY = {
    "Add": (lambda a, b: a + b, lambda a, b, y: (1.0, 1.0), None),
    "Sub": (lambda a, b: a - b, lambda a, b, y: (1.0, -1.0), None),
    "Mul": (lambda a, b: a * b, lambda a, b, y: (b, a), None),
    "Div": (lambda a, b: a / b, lambda a, b, y: (1 / b, -y / b), None),
    "Pow": (math.pow, lambda a, b, y: (b * math.pow(a, b - 1), y * math.log(a) if a > 0 else 0.0), None),
    "Max": (max, lambda a, b, y: share(a > b, b > a), apart),
    "Min": (min, lambda a, b, y: share(a < b, b < a), apart),
    "PRelu": (lambda a, b: a if a > 0 else a * b, lambda a, b, y: (1.0, 0.0) if a > 0 else (b, a), lambda a, b: abs(a)),
}

COMPARE = {
    "Equal": lambda a, b: a == b, "Greater": lambda a, b: a > b, "GreaterOrEqual": lambda a, b: a >= b,
    "Less": lambda a, b: a < b, "LessOrEqual": lambda a, b: a <= b, "And": lambda a, b: a and b,
    "Or": lambda a, b: a or b, "Xor": lambda a, b: a != b,
}


def unary_row(of):
    def margin(_, x):
        return min((abs(value - kink) for value in x.data for kink in of.kinks), default=FAR)

    return Row(lambda _, x: Array(x.shape, [float(of.value(value)) for value in x.data]),
               lambda _, x, y, dy: [Array(x[0].shape, [of.slope(value, result) * d
                                                       for value, result, d in zip(x[0].data, y.data, dy.data)])],
               margin if of.kinks else None)


def paired(f, a, b, kind="f"):
    shape = broadcast_shape(a.shape, b.shape)
    return Array(shape, [f(x, y) for x, y in zip(broadcast(a, shape).data, broadcast(b, shape).data)], kind)


def binary_row(value, slopes, distance):
    def backward(_, inputs, y, dy):
        a, b = (broadcast(x, y.shape) for x in inputs)
        pairs = [slopes(*each) for each in zip(a.data, b.data, y.data)]
        return [unbroadcast(Array(y.shape, [pair[i] * d for pair, d in zip(pairs, dy.data)]), x.shape)
                for i, x in enumerate(inputs)]

    def margin(_, a, b):
        return min(paired(distance, a, b).data, default=FAR)

    def tied(_, a, b):
        return any(paired(lambda x, y: x == y, a, b).data)

    return Row(lambda _, a, b: paired(value, a, b), backward, margin if distance else None, tied if distance is apart else None)


def compare_row(f):
    def margin(_, a, b):
        if a.kind != "f" and b.kind != "f":
            return FAR
        return min(paired(apart, a, b).data, default=FAR)

    def tied(_, a, b):
        return a.kind == "f" and any(paired(lambda x, y: x == y, a, b).data)

    return Row(lambda _, a, b: paired(lambda x, y: int(f(x, y)), a, b, "b"), None, margin, tied)


def clip(attributes, x, low=None, high=None):
    low, high = low.data[0] if low else -math.inf, high.data[0] if high else math.inf
    return Array(x.shape, [min(max(value, low), high) for value in x.data])


def clip_backward(_, inputs, y, dy):
    low, high = ([x.data[0] if x else end for x, end in zip(inputs[1:], (-math.inf, math.inf))] + [math.inf])[:2]
    return [Array(y.shape, [d if low < x < high else 0.0 for x, d in zip(inputs[0].data, dy.data)]), None, None]


def clip_margin(_, x, *ends):
    return min((abs(value - end.data[0]) for value in x.data for end in ends if end), default=FAR)


def where(_, condition, a, b):
    shape = broadcast_shape(condition.shape, a.shape, b.shape)
    each = zip(*(broadcast(x, shape).data for x in (condition, a, b)))
    return Array(shape, [x if chosen else y for chosen, x, y in each], a.kind)


def where_backward(_, inputs, y, dy):
    condition = broadcast(inputs[0], y.shape).data
    return [None, unbroadcast(Array(y.shape, [d if chosen else 0.0 for chosen, d in zip(condition, dy.data)]), inputs[1].shape),
            unbroadcast(Array(y.shape, [0.0 if chosen else d for chosen, d in zip(condition, dy.data)]), inputs[2].shape)]


CASTS = {1: ("f", float), 7: ("i", int), 9: ("b", lambda x: int(x != 0))}


def cast(attributes, x):
    kind, convert = CASTS[attributes["to"]]
    return Array(x.shape, [convert(value) for value in x.data], kind)


def cast_backward(attributes, inputs, y, dy):
    return [Array(dy.shape, dy.data) if attributes["to"] == 1 and inputs[0].kind == "f" else None]


STOP = "xlc.stop_gradient"


def identity_backward(attributes, _, y, dy):
    return [None if STOP in attributes else dy]


ROWS = {op: unary_row(row) for op, row in UNARY.items()}
ROWS |= {op: binary_row(*row) for op, row in BINARY.items()}
ROWS |= {op: compare_row(f) for op, f in COMPARE.items()}
ROWS |= {
    "Cast": Row(cast, cast_backward),
    "Clip": Row(clip, clip_backward, clip_margin),
    "Identity": Row(lambda _, x: x, identity_backward),
    "IsNaN": Row(lambda _, x: Array(x.shape, [int(value != value) for value in x.data], "b"), None),
    "Not": Row(lambda _, x: Array(x.shape, [int(not value) for value in x.data], "b"), None),
    "Where": Row(where, where_backward),
}
