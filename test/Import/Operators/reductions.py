"""Cases of operators that combine or rank elements along dimensions."""

import math

from case import Case
from tensors import Array, bools, floats, ints, lines, reals, reduced, scalar, whole, zipped

X = reals([2, 3, 4], seed=7)
POSITIVE = reals([2, 3, 4], 0.25, 2, seed=7)
COUNTS = whole([2, 3, 4], -3, 4, seed=7)

REDUCTIONS = {
    "ReduceL1": lambda v: sum(map(abs, v)),
    "ReduceL2": lambda v: math.sqrt(sum(x * x for x in v)),
    "ReduceLogSum": lambda v: math.log(sum(v)),
    "ReduceLogSumExp": lambda v: math.log(sum(map(math.exp, v))),
    "ReduceMax": max,
    "ReduceMean": lambda v: sum(v) / len(v),
    "ReduceMin": min,
    "ReduceProd": math.prod,
    "ReduceSum": sum,
    "ReduceSumSquare": lambda v: sum(x * x for x in v),
}
INTEGER = ("ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare")


def reduction(op, f, x, axes, **attributes):
    """Axes are an attribute until opset 17 and an input since 18; those of ReduceSum are an input since 13."""
    keep = attributes.get("keepdims", 1)
    change = 13 if op == "ReduceSum" else 18
    given = [] if axes is None else [Array([len(axes)], axes, "i")]
    old = {} if axes is None else {"axes": list(axes)}

    def want(x, *_):
        return reduced(x, axes, keep, f)
    cases = [Case(op, x, *given, fixed=[1], since=change, want=want, **attributes)]
    if change > 13:
        cases.append(Case(op, x, until=change - 1, want=want, **old, **attributes))
    return cases


def reductions():
    for op, f in REDUCTIONS.items():
        x = POSITIVE if op == "ReduceLogSum" else X
        for axes in (None, [1], [-1], [0, 2], [2, 0, 1]):
            for keep in (0, 1):
                yield from reduction(op, f, x, axes, keepdims=keep)
        yield from reduction(op, f, reals([1, 3], 0.5, 1), [0])
        if op in INTEGER:
            yield from reduction(op, f, COUNTS, [1])
        since = 13 if op == "ReduceSum" else 18
        yield Case(op, x, Array([0], [], "i"), fixed=[1], since=since, noop_with_empty_axes=1,
                   want=lambda x, _, f=f: Array(x.shape, [f([v]) for v in x.data]))
    for op, f in (("ReduceMax", max), ("ReduceMin", min)):
        yield Case(op, bools([3, 4], seed=4), ints(1), fixed=[1], since=20, want=lambda x, _, f=f: reduced(x, [1], 1, f))
    yield from reduction("ReduceLogSumExp", lambda v: 1000 + math.log(3), floats(1000, 1000, 1000), [0])
    yield from reduction("ReduceL2", lambda v: 0, floats(0, 0), [0])


def best(largest, last):
    def f(line):
        value = max(line) if largest else min(line)
        places = [k for k, x in enumerate(line) if x == value]
        return places[-1 if last else 0]
    return f


def arg_extremes():
    for op, largest in (("ArgMax", True), ("ArgMin", False)):
        for x in (X, COUNTS):
            for axis in (0, 1, -1):
                for last in (0, 1):
                    yield Case(op, x, axis=axis, select_last_index=last, keepdims=last,
                               want=lambda x, a=axis, b=last, g=largest: reduced(x, [a], b, best(g, b), "i"))
        yield Case(op, X, want=lambda x, g=largest: reduced(x, [0], 1, best(g, 0), "i"))


def top(k, largest):
    """(place, value) of the k first in order; of equal ones the earlier place."""
    return lambda line: sorted(enumerate(line), key=lambda e: (-e[1] if largest else e[1], e[0]))[:k]


def topk():
    for x in (X, COUNTS):
        for axis, k in ((-1, 2), (1, 3), (0, 1)):
            for largest in (0, 1):
                yield Case("TopK", x, ints(k), axis=axis, largest=largest, fixed=[1],
                           want=lambda x, _, a=axis, k=k, g=largest: [
                               lines(x, a, lambda line: [v for _, v in top(k, g)(line)]),
                               lines(x, a, lambda line: [p for p, _ in top(k, g)(line)], "i")])
    yield Case("TopK", X, ints(4), fixed=[1], want=lambda x, _: [
        lines(x, -1, lambda line: [v for _, v in top(4, True)(line)]), None])


def running(reverse, exclusive):
    def f(line):
        line = line[::-1] if reverse else line
        sums = [sum(line[:k + (0 if exclusive else 1)]) for k in range(len(line))]
        return sums[::-1] if reverse else sums
    return f


def cumsums():
    for x in (X, COUNTS):
        for axis in (0, 1, -1):
            for flags in range(4):
                yield Case("CumSum", x, scalar(axis, "i"), reverse=flags & 1, exclusive=flags >> 1, fixed=[1],
                           want=lambda x, _, a=axis, g=flags: lines(x, a, running(g & 1, g >> 1)))


def softmax(line):
    powers = [math.exp(x - max(line)) for x in line]
    return [p / sum(powers) for p in powers]


def hardmax(line):
    return [int(k == line.index(max(line))) for k in range(len(line))]


def normalised(p):
    def f(line):
        norm = sum(map(abs, line)) if p == 1 else math.sqrt(sum(x * x for x in line))
        return [x / norm for x in line]
    return f


def alongs():
    for op, f in (("Softmax", softmax), ("LogSoftmax", lambda v: [math.log(x) for x in softmax(v)]),
                  ("Hardmax", hardmax)):
        yield Case(op, X, want=lambda x, f=f: lines(x, -1, f))
        for axis in (0, 1, 2):
            yield Case(op, X, axis=axis, want=lambda x, a=axis, f=f: lines(x, a, f))
    yield Case("Softmax", floats(1000, 0), want=lambda _: floats(1, 0))
    yield Case("LogSoftmax", floats(1000, 0), want=lambda _: floats(0, -1000))
    yield Case("Hardmax", floats(1, 2, 2), want=lambda _: floats(0, 1, 0))
    yield Case("LpNormalization", X, want=lambda x: lines(x, -1, normalised(2)))
    for p in (1, 2):
        yield Case("LpNormalization", X, axis=1, p=p, want=lambda x, p=p: lines(x, 1, normalised(p)))


def standardised(axes):
    def want(x):
        mean = reduced(x, axes, 1, lambda v: sum(v) / len(v))
        spread = reduced(zipped(lambda a, m: (a - m) ** 2, x, mean), axes, 1, lambda v: math.sqrt(sum(v) / len(v)))
        return zipped(lambda a, m, s: (a - m) / (s + 1e-9), x, mean, spread)
    return want


def norms():
    images = reals([2, 3, 2, 2], seed=5)
    yield Case("MeanVarianceNormalization", images, want=standardised([0, 2, 3]))
    yield Case("MeanVarianceNormalization", X, axes=[1, -1], want=standardised([1, 2]))


CASES = [*reductions(), *arg_extremes(), *topk(), *cumsums(), *alongs(), *norms()]
