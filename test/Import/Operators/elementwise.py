"""Cases of operators that work element by element, with numpy's broadcasting."""

import math

from case import Case, constant
from tensors import Array, bools, floats, ints, mapped, narrow, reals, scalar, whole, zipped

X = reals([2, 3], seed=3)
EDGES = floats(-50, -3, -1, -0.5, -1e-6, 0, 1e-6, 0.5, 1, 3, 50)
POSITIVE = reals([2, 3], 0.1, 4)
INSIDE = floats(-1, -0.9, -0.5, -1e-4, 0, 0.3, 0.99, 1)
INF, NAN = math.inf, math.nan
# Shapes that broadcast in every way: equal, a leading dimension missing, ones on either side, a scalar.
PAIRS = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1, 3), (4, 1)), ((), (2, 2)), ((1,), (3, 1, 2))]


def unary(op, f, *inputs, kind=None, **options):
    return [Case(op, x, want=mapped(f, kind), **options) for x in inputs or (X, EDGES)]


def binary(op, f, make=reals, kind=None, **options):
    """Over all pairs of shapes; `make(shape, seed=)` gives inputs."""
    return [Case(op, make(a, seed=5), make(b, seed=9), want=lambda a, b: zipped(f, a, b, kind=kind), **options)
            for a, b in PAIRS]


def few(shape, seed=1):
    return whole(shape, -3, 4, seed)


def few32(shape, seed=1):
    return whole(shape, -3, 4, seed, "I")


def nonzero(shape, seed=1):
    return Array(shape, [x if abs(x) > 0.1 else 1.5 for x in reals(shape, seed=seed).data])


def nonzero_int(shape, seed=1):
    return Array(shape, [x or 2 for x in few(shape, seed).data], "i")


def truncated(a, b):
    return int(a / b)


def sign(x):
    return (x > 0) - (x < 0)


def softplus(x):
    return max(x, 0) + math.log1p(math.exp(-abs(x)))


def elu(alpha):
    return lambda x: x if x > 0 else alpha * math.expm1(x)


def hard_sigmoid(x, alpha=narrow(0.2), beta=0.5):
    return max(0, min(1, alpha * x + beta))


def rounded(x):
    return float(round(x))  # Python rounds halves to even, as ONNX does


def clipped(low, high):
    return lambda x, *_: Array(x.shape, [min(max(v, low), high) for v in x.data], x.kind)


def prelu(x, slope):
    return zipped(lambda a, s: a if a >= 0 else a * s, x, slope)


LOGIC = [
    *binary("And", lambda a, b: a and b, bools),
    *binary("Or", lambda a, b: a or b, bools),
    *binary("Xor", lambda a, b: a != b, bools),
    Case("Not", bools([5]), want=mapped(lambda a: not a)),
    *[case for op, f in (("Equal", lambda a, b: a == b), ("Less", lambda a, b: a < b), ("Greater", lambda a, b: a > b),
                         ("LessOrEqual", lambda a, b: a <= b), ("GreaterOrEqual", lambda a, b: a >= b))
      for make in (few, few32, reals) for case in binary(op, f, make, kind="b")],
    *binary("Equal", lambda a, b: a == b, bools, kind="b"),
    Case("Less", floats(NAN, 1, INF), floats(1, NAN, NAN), want=constant(Array([3], [0, 0, 0], "b"))),
    Case("IsNaN", floats(NAN, 0, INF, -INF), want=constant(Array([4], [1, 0, 0, 0], "b"))),
    Case("IsInf", floats(NAN, 0, INF, -INF), want=constant(Array([4], [0, 0, 1, 1], "b"))),
    Case("IsInf", floats(NAN, 0, INF, -INF), detect_negative=0, want=constant(Array([4], [0, 0, 1, 0], "b"))),
    Case("IsInf", floats(NAN, 0, INF, -INF), detect_positive=0, want=constant(Array([4], [0, 0, 0, 1], "b"))),
    Case("IsInf", floats(0, INF), detect_positive=0, detect_negative=0, want=constant(Array([2], [0, 0], "b"))),
    *[Case("Where", bools(c), reals(a, seed=2), reals(b, seed=3), want=lambda c, a, b: zipped(
        lambda c, a, b: a if c else b, c, a, b, kind="f"))
      for c, a, b in (([2, 3], [2, 3], [2, 3]), ([3], [2, 1], [1]), ([2, 1], [], [3]))],
    Case("Where", bools([2, 2]), few([2], 1), few([2, 1], 2), want=lambda c, a, b: zipped(
        lambda c, a, b: a if c else b, c, a, b, kind="i")),
]

ARITHMETIC = [
    *[case for op, f in (("Add", lambda a, b: a + b), ("Sub", lambda a, b: a - b), ("Mul", lambda a, b: a * b))
      for make in (few, few32, reals) for case in binary(op, f, make)],
    Case("Add", reals([3], kind="d"), reals([1], kind="d"), want=lambda a, b: zipped(lambda a, b: a + b, a, b)),
    *binary("Div", lambda a, b: a / b, nonzero),
    *binary("Div", truncated, nonzero_int),
    *binary("Mod", lambda a, b: a % b, nonzero_int),
    *binary("Mod", math.fmod, nonzero_int, fmod=1),
    *binary("Mod", math.fmod, nonzero, fmod=1),
    Case("Mod", floats(5.5, -5.5, 1e6), floats(-2, 2, 0.75), fmod=1, want=lambda a, b: zipped(math.fmod, a, b)),
    Case("Pow", POSITIVE, reals([3]), want=lambda a, b: zipped(math.pow, a, b)),
    *[Case("Pow", POSITIVE, ints(2, 0, -1, kind=kind), fixed=fixed, want=lambda a, b: zipped(math.pow, a, b))
      for kind in "iI" for fixed in ((), (1,))],
    *[Case("Pow", X, scalar(p), fixed=[1], want=lambda a, b: zipped(math.pow, a, b)) for p in (1.0, 2.0, 3.0)],
    *[Case("Pow", POSITIVE, scalar(p), fixed=[1], want=lambda a, b: zipped(math.pow, a, b)) for p in (0.5, -1.0, -2.5)],
    Case("Pow", few([4]), scalar(2, "i"), fixed=[1], want=lambda a, b: zipped(lambda a, b: a ** b, a, b)),
    Case("Pow", X, scalar(2, "i"), fixed=[1], want=lambda a, b: zipped(math.pow, a, b)),
    *[case for op, f in (("Max", max), ("Min", min)) for make in (few, reals) for case in binary(op, f, make)],
    *[Case(op, reals([2, 3], seed=1), reals([3], seed=2), reals([2, 1], seed=3),
           want=lambda *x, f=f: zipped(lambda *v: f(v), *x))
      for op, f in (("Max", max), ("Min", min), ("Sum", sum), ("Mean", lambda v: sum(v) / len(v)))],
    *[Case(op, X, want=lambda x: x) for op in ("Max", "Min", "Sum", "Mean")],
    Case("BitwiseAnd", ints(12, -7), ints(10, 3), since=18, want=lambda a, b: zipped(lambda a, b: a & b, a, b)),
    Case("BitwiseOr", ints(12, -7), ints(10, 3), since=18, want=lambda a, b: zipped(lambda a, b: a | b, a, b)),
    Case("BitwiseXor", ints(12, -7), ints(6), since=18, want=lambda a, b: zipped(lambda a, b: a ^ b, a, b)),
    Case("BitwiseNot", ints(12, -7, 0), since=18, want=mapped(lambda a: ~a)),
]

FUNCTIONS = [
    *unary("Abs", abs, X, EDGES, few([4])),
    *unary("Neg", lambda x: -x, X, few([4]), few32([4])),
    *unary("Sign", sign, X, EDGES, few([4])),
    *unary("Exp", math.exp),
    *unary("Log", math.log, POSITIVE),
    *unary("Sqrt", math.sqrt, POSITIVE, floats(0)),
    *unary("Reciprocal", lambda x: 1 / x, POSITIVE),
    *unary("Tanh", math.tanh),
    *unary("Erf", math.erf),
    *unary("Sin", math.sin),
    *unary("Cos", math.cos),
    *unary("Tan", math.tan, X),
    *unary("Asin", math.asin, INSIDE),
    *unary("Acos", math.acos, INSIDE),
    *unary("Atan", math.atan),
    *unary("Sinh", math.sinh, X, floats(-9, -1e-4, 0, 1e-4, 9)),
    *unary("Cosh", math.cosh, X, floats(-9, 0, 9)),
    *unary("Asinh", math.asinh, X, EDGES),
    *unary("Acosh", math.acosh, floats(1, 1.5, 20)),
    *unary("Atanh", math.atanh, floats(-0.9, -1e-4, 0, 0.5)),
    *unary("Floor", math.floor, X, floats(-2, -1.5, -0.0, 0.5, 7)),
    *unary("Ceil", math.ceil, X, floats(-2, -1.5, 0.0, 0.5, 7)),
    *unary("Round", rounded, X, floats(-2.5, -1.5, -0.5, 0.49999997, 0.5, 1.5, 2.5, 2.6, 7)),
]

ACTIVATIONS = [
    *unary("Relu", lambda x: max(x, 0), X, EDGES),
    *unary("Relu", lambda x: max(x, 0), few([4]), since=14),
    *unary("LeakyRelu", lambda x: x if x >= 0 else narrow(0.01) * x),
    *unary("LeakyRelu", lambda x: x if x >= 0 else 0.25 * x, alpha=0.25),
    *unary("Elu", elu(1)),
    *unary("Elu", elu(0.5), alpha=0.5),
    *unary("Celu", elu(1)),
    *unary("Celu", lambda x: x if x > 0 else 2 * math.expm1(x / 2), alpha=2.0),
    *unary("Selu", lambda x: 1.0507010221481323 * elu(1.6732631921768188)(x)),
    *unary("Selu", lambda x: 3 * elu(0.5)(x), alpha=0.5, gamma=3.0),
    *unary("Sigmoid", lambda x: 1 / (1 + math.exp(-x))),
    *unary("HardSigmoid", hard_sigmoid),
    *unary("HardSigmoid", lambda x: hard_sigmoid(x, 0.5, 0.25), alpha=0.5, beta=0.25),
    *unary("HardSwish", lambda x: x * hard_sigmoid(x, 1 / 6), since=14),
    *unary("Softplus", softplus),
    *unary("Softsign", lambda x: x / (1 + abs(x))),
    *unary("Mish", lambda x: x * math.tanh(softplus(x)), since=18),
    *unary("ThresholdedRelu", lambda x: x if x > 1 else 0),
    *unary("ThresholdedRelu", lambda x: x if x > -0.5 else 0, alpha=-0.5),
    *unary("Shrink", lambda x: 0 if abs(x) <= 0.5 else x),
    *unary("Shrink", lambda x: x + 0.25 if x < -1 else x - 0.25 if x > 1 else 0, lambd=1.0, bias=0.25),
    *unary("Gelu", lambda x: x / 2 * (1 + math.erf(x / math.sqrt(2))), since=20),
    *unary("Gelu", lambda x: x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))), since=20,
           approximate="tanh"),
    *[Case("PRelu", reals([2, 3, 2]), reals(s, seed=4), want=prelu) for s in ([2, 3, 2], [3, 1], [1], [])],
    Case("Clip", X, want=clipped(-INF, INF)),
    Case("Clip", X, scalar(-0.5), want=clipped(-0.5, INF)),
    Case("Clip", X, None, scalar(0.5), want=clipped(-INF, 0.5)),
    Case("Clip", X, scalar(-0.5), scalar(0.5), want=clipped(-0.5, 0.5)),
    Case("Clip", few([6]), scalar(-1, "i"), scalar(2, "i"), want=clipped(-1, 2)),
    Case("Dropout", X, want=lambda x: x),
    Case("Dropout", X, scalar(0.5), scalar(0, "b"), fixed=[1, 2], want=lambda x, *_: x),
    Case("Dropout", X, scalar(0), scalar(1, "b"), fixed=[1, 2], want=lambda x, *_: [x, zipped(lambda *_: True, x, x, kind="b")]),
]


def cast(kind, f):
    return lambda x: Array(x.shape, [f(v) for v in x.data], kind)


CASTS = [
    Case("Cast", floats(-2.7, -0.5, 0, 0.5, 2.7), to=7, want=cast("i", int)),
    Case("Cast", floats(-2.7, -0.5, 0, 0.5, 2.7), to=6, want=cast("I", int)),
    Case("Cast", floats(-2.7, 0, 1e-9, NAN), to=9, want=cast("b", lambda x: x != 0)),
    Case("Cast", few([4]), to=1, want=cast("f", float)),
    Case("Cast", few([4]), to=9, want=cast("b", bool)),
    Case("Cast", ints(1, 2**32 + 3), to=6, want=constant(ints(1, 3, kind="I"))),
    Case("Cast", bools([4]), to=1, want=cast("f", float)),
    Case("Cast", bools([4]), to=7, want=cast("i", int)),
    Case("Cast", X, to=11, want=cast("d", float)),
    Case("Cast", reals([3], kind="d"), to=1, want=cast("f", float)),
    Case("Cast", X, to=1, want=lambda x: x),
    Case("CastLike", floats(-2.7, -0.5, 0, 0.5, 2.7), ints(1, 2), want=lambda x, like: cast("i", int)(x)),
    Case("CastLike", ints(-3, 0, 2), reals([2, 2]), want=lambda x, like: cast("f", float)(x)),
    Case("CastLike", few([4]), bools([1]), since=15, want=lambda x, like: cast("b", bool)(x)),
    Case("Identity", X, want=lambda x: x),
]

CASES = LOGIC + ARITHMETIC + FUNCTIONS + ACTIVATIONS + CASTS
