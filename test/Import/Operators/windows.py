"""Cases of convolutions, pools, and norms over channels: every output is a sum over the places of its window."""

import itertools
import math

from case import Case
from tensors import build, indices, reals, reduced, zipped

LINE = reals([2, 4, 7], seed=51)
PLANE = reals([2, 4, 5, 6], seed=52)
SOLID = reals([1, 2, 3, 4, 3], seed=53)


def window_pads(x, size, strides, dilations, pads, auto_pad):
    """Amounts before and after, per spatial dimension."""
    rank = len(size)
    if auto_pad == "VALID":
        return [0] * rank, [0] * rank
    if auto_pad == "NOTSET":
        return pads[:rank], pads[rank:]
    low, high = [], []
    for d in range(rank):
        out = math.ceil(x.shape[d + 2] / strides[d])
        total = max(0, (out - 1) * strides[d] + (size[d] - 1) * dilations[d] + 1 - x.shape[d + 2])
        low.append(total // 2 if auto_pad == "SAME_UPPER" else total - total // 2)
        high.append(total - low[-1])
    return low, high


class Windows:
    """Attributes of a window, with ONNX's defaults."""

    def __init__(self, x, size, strides=None, dilations=None, pads=None, auto_pad="NOTSET", ceil_mode=0):
        rank = len(size)
        self.x, self.size = x, list(size)
        self.strides, self.dilations = strides or [1] * rank, dilations or [1] * rank
        self.low, self.high = window_pads(x, size, self.strides, self.dilations, pads or [0] * 2 * rank, auto_pad)
        self.out = []
        for d in range(rank):
            room = x.shape[d + 2] + self.low[d] + self.high[d] - (size[d] - 1) * self.dilations[d] - 1
            count = (math.ceil if ceil_mode else math.floor)(room / self.strides[d]) + 1
            if ceil_mode and (count - 1) * self.strides[d] >= x.shape[d + 2] + self.low[d]:
                count -= 1
            self.out.append(count)

    def places(self, o):
        """(place in the window, place in the input or None) of output o."""
        for k in itertools.product(*map(range, self.size)):
            at = tuple(o[d] * self.strides[d] + k[d] * self.dilations[d] - self.low[d] for d in range(len(k)))
            inside = all(0 <= a < n for a, n in zip(at, self.x.shape[2:]))
            yield k, at if inside else None, at


def conv(group=1, **window):
    def want(x, w, bias=None):
        windows, inputs, outputs = Windows(x, w.shape[2:], **window), w.shape[1], w.shape[0] // group

        def element(i):
            n, m, o = i[0], i[1], i[2:]
            return (bias.data[m] if bias else 0) + sum(
                w[(m, c) + k] * x[(n, m // outputs * inputs + c) + at]
                for c in range(inputs) for k, at, _ in windows.places(o) if at is not None)
        return build([x.shape[0], w.shape[0], *windows.out], element)
    return want


def conv_transpose(group=1, strides=None, dilations=None, pads=None, output_padding=None):
    def want(x, w, bias=None):
        rank, outputs, inputs = len(w.shape) - 2, w.shape[1], w.shape[0] // group
        step, gap, cut = strides or [1] * rank, dilations or [1] * rank, pads or [0] * 2 * rank
        more = output_padding or [0] * rank
        shape = [x.shape[0], outputs * group] + [
            step[d] * (x.shape[d + 2] - 1) + more[d] + (w.shape[d + 2] - 1) * gap[d] + 1 - cut[d] - cut[d + rank]
            for d in range(rank)]
        sums = {i: bias.data[i[1]] if bias else 0 for i in indices(shape)}
        for n, c, *at in indices(x.shape):
            for m, *k in indices(w.shape[1:]):
                to = (n, c // inputs * outputs + m, *(at[d] * step[d] + k[d] * gap[d] - cut[d] for d in range(rank)))
                if to in sums:
                    sums[to] += x[(n, c, *at)] * w[(c, m, *k)]
        return build(shape, lambda i: sums[i])
    return want


def pool(f, size, **window):
    """f(values inside, number of places that count as the window)."""
    include = window.pop("count_include_pad", 0)

    def want(x):
        windows = Windows(x, size, **window)

        def element(i):
            inside, padded = [], 0
            for _, at, raw in windows.places(i[2:]):
                if at is not None:
                    inside.append(x[i[:2] + at])
                # What ceil_mode adds behind the padding is no part of any window.
                padded += all(-lo <= a < n + hi for a, n, lo, hi in
                              zip(raw, x.shape[2:], windows.low, windows.high))
            return f(inside, padded if include else len(inside))
        return build([*x.shape[:2], *windows.out], element)
    return want


def largest(values, _):
    return max(values)


def mean(values, count):
    return sum(values) / count


def norm(p):
    return lambda values, _=0: sum(abs(v) ** p for v in values) ** (1 / p)


PLANE_WINDOWS = [{}, {"strides": [2, 1]}, {"pads": [1, 0, 1, 1]}, {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
                 {"auto_pad": "SAME_LOWER"}, {"auto_pad": "VALID"}]
CONVOLUTIONS = [
    Case("Conv", LINE, reals([3, 4, 3], seed=1), want=conv()),
    Case("Conv", LINE, reals([3, 4, 3], seed=1), reals([3], seed=2), pads=[1, 1], want=conv(pads=[1, 1])),
    Case("Conv", LINE, reals([4, 1, 2], seed=1), group=4, dilations=[3], strides=[2],
         want=conv(4, dilations=[3], strides=[2])),
    *[Case("Conv", PLANE, reals([4, 2, 3, 2], seed=3), reals([4], seed=4), group=2, kernel_shape=[3, 2], **window,
           want=conv(2, **window)) for window in PLANE_WINDOWS],
    Case("Conv", SOLID, reals([2, 2, 2, 2, 2], seed=5), want=conv()),
    Case("ConvTranspose", LINE, reals([4, 3, 3], seed=1), reals([3], seed=2), want=conv_transpose()),
    *[Case("ConvTranspose", PLANE, reals([4, 2, 3, 2], seed=3), group=2, **window, want=conv_transpose(2, **window))
      for window in ({}, {"strides": [2, 1]}, {"pads": [1, 0, 1, 1]}, {"strides": [2, 2], "output_padding": [1, 0]},
                     {"dilations": [1, 2]})],
]

POOLS = [
    *[Case(op, PLANE, kernel_shape=[2, 3], **window, want=pool(f, [2, 3], **window))
      for op, f in (("MaxPool", largest), ("AveragePool", mean))
      for window in (*PLANE_WINDOWS, {"ceil_mode": 1, "strides": [2, 2]})],
    Case("MaxPool", LINE, kernel_shape=[2], want=pool(largest, [2])),
    Case("MaxPool", LINE, kernel_shape=[2], dilations=[2], want=pool(largest, [2], dilations=[2])),
    Case("MaxPool", SOLID, kernel_shape=[2, 2, 2], want=pool(largest, [2, 2, 2])),
    Case("AveragePool", LINE, kernel_shape=[3], pads=[1, 1], count_include_pad=1,
         want=pool(mean, [3], pads=[1, 1], count_include_pad=1)),
    *[Case("LpPool", PLANE, kernel_shape=[2, 2], **({"p": p} if p != 2 else {}), want=pool(norm(p), [2, 2]))
      for p in (1, 2, 3)],
    *[Case(op, x, want=lambda x, f=f: reduced(x, range(2, x.rank), 1, f)) for x in (LINE, PLANE)
      for op, f in (("GlobalAveragePool", lambda v: sum(v) / len(v)), ("GlobalMaxPool", max), ("GlobalLpPool", norm(2)))],
    Case("GlobalLpPool", PLANE, p=3, want=lambda x: reduced(x, [2, 3], 1, norm(3))),
]


def standardised(x, axes, epsilon):
    centre = reduced(x, axes, 1, lambda v: sum(v) / len(v))
    spread = reduced(zipped(lambda a, m: (a - m) ** 2, x, centre), axes, 1, lambda v: sum(v) / len(v))
    return zipped(lambda a, m, s: (a - m) / math.sqrt(s + epsilon), x, centre, spread)


def instance_norm(epsilon):
    def want(x, scale, bias):
        y = standardised(x, range(2, x.rank), epsilon)
        return build(x.shape, lambda i: y[i] * scale.data[i[1]] + bias.data[i[1]])
    return want


def group_norm(groups, epsilon, per_channel):
    def want(x, scale, bias):
        inside = x.shape[1] // groups
        y = standardised(reshaped_to(x, [x.shape[0], groups, inside, *x.shape[2:]]), range(2, x.rank + 1), epsilon)
        y = reshaped_to(y, x.shape)
        return build(x.shape, lambda i: y[i] * scale.data[i[1] if per_channel else i[1] // inside]
                     + bias.data[i[1] if per_channel else i[1] // inside])
    return want


def reshaped_to(x, shape):
    return build(shape, iter_of(x))


def iter_of(x):
    values = iter(x.data)
    return lambda _: next(values)


def batch_norm(epsilon):
    def want(x, scale, bias, mean_of, variance):
        return build(x.shape, lambda i: (x[i] - mean_of.data[i[1]]) / math.sqrt(variance.data[i[1]] + epsilon)
                     * scale.data[i[1]] + bias.data[i[1]])
    return want


def response_norm(size, alpha=1e-4, beta=0.75, bias=1.0):
    def want(x):
        def element(i):
            low, high = i[1] - (size - 1) // 2, i[1] + math.ceil((size - 1) / 2)
            total = sum(x[(i[0], c) + i[2:]] ** 2 for c in range(max(0, low), min(x.shape[1], high + 1)))
            return x[i] / (bias + alpha / size * total) ** beta
        return build(x.shape, element)
    return want


SCALE, BIAS = reals([4], 0.5, 2, seed=6), reals([4], seed=7)
NORMS = [
    *[Case("InstanceNormalization", x, SCALE, BIAS, want=instance_norm(1e-5)) for x in (LINE, PLANE)],
    Case("InstanceNormalization", PLANE, SCALE, BIAS, epsilon=0.5, want=instance_norm(0.5)),
    *[Case("GroupNormalization", PLANE, reals([2], 0.5, 2), reals([2], seed=3), num_groups=2, since=18, until=20,
           want=group_norm(2, 1e-5, False))],
    *[Case("GroupNormalization", x, SCALE, BIAS, num_groups=2, since=21, want=group_norm(2, 1e-5, True))
      for x in (LINE, PLANE)],
    *[Case("BatchNormalization", x, SCALE, BIAS, reals([4], seed=8), reals([4], 0.5, 2, seed=9),
           want=batch_norm(1e-5)) for x in (LINE, PLANE)],
    Case("BatchNormalization", PLANE, SCALE, BIAS, reals([4], seed=8), reals([4], 0.5, 2, seed=9), epsilon=0.25,
         want=batch_norm(0.25)),
    *[Case("LRN", PLANE, size=size, want=response_norm(size)) for size in (1, 2, 3, 5)],
    Case("LRN", PLANE, size=3, alpha=0.5, beta=0.5, bias=2.0, want=response_norm(3, 0.5, 0.5, 2.0)),
]

CASES = CONVOLUTIONS + POOLS + NORMS
