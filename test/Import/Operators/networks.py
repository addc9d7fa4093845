"""Cases of products, norms, losses and images."""

import itertools
import math

from case import Case
from tensors import (Array, broadcast, build, floats, ints, lines, reals, reduced, scalar, transposed, whole,
                     zipped)

X = reals([2, 3], seed=31)
IMAGES = reals([2, 8, 2, 3], seed=32)


def matmul(a, b):
    left, right = a, b
    if a.rank == 1:
        left = Array((1,) + a.shape, a.data)
    if b.rank == 1:
        right = Array(b.shape + (1,), b.data)
    lead = broadcast(left.shape[:-2], right.shape[:-2])
    y = build(lead + (left.shape[-2], right.shape[-1]), lambda i: sum(
        left[i[:-1] + (k,)] * right[i[:-2] + (k, i[-1])] for k in range(left.shape[-1])))
    shape = list(y.shape)
    if b.rank == 1:
        del shape[-1]
    if a.rank == 1:
        del shape[-1 if b.rank == 1 else -2]
    return Array(shape, y.data)


def gemm(alpha=1, beta=1, transA=0, transB=0):
    def want(a, b, c=None):
        a, b = transposed(a, [1, 0]) if transA else a, transposed(b, [1, 0]) if transB else b
        y = matmul(a, b)
        return build(y.shape, lambda i: alpha * y[i] + (beta * c[i] if c else 0))
    return want


def einsum(equation):
    """By summing over all values of all letters; an ellipsis is written as letters by the caller."""
    left, right = equation.split("->")

    def want(*operands):
        sizes = {}
        for letters, x in zip(left.split(","), operands):
            for letter, size in zip(letters, x.shape):
                sizes[letter] = max(size, sizes.get(letter, 1))
        summed = [letter for letter in sizes if letter not in right]

        def element(index):
            total = 0
            for rest in itertools.product(*(range(sizes[letter]) for letter in summed)):
                at = dict(zip(right, index)) | dict(zip(summed, rest))
                total += math.prod(x[tuple(at[letter] for letter in letters)]
                                   for letters, x in zip(left.split(","), operands))
            return total
        return build([sizes[letter] for letter in right], element)
    return want


PRODUCTS = [
    *[Case("MatMul", reals(a, seed=1), reals(b, seed=2), want=matmul) for a, b in
      (([2, 3], [3, 4]), ([3], [3, 4]), ([2, 3], [3]), ([3], [3]), ([2, 2, 3], [3, 4]), ([2, 1, 2, 3], [4, 3, 2]),
       ([2, 2, 3], [2, 3, 1]), ([3, 1], [2, 1, 3]), ([1, 2, 3], [5, 3, 2]), ([2, 5, 2, 3], [2, 1, 3, 2]))],
    *[Case("Gemm", reals([3, 2] if ta else [2, 3], seed=1), reals([4, 3] if tb else [3, 4], seed=2), transA=ta,
           transB=tb, want=gemm(transA=ta, transB=tb)) for ta in (0, 1) for tb in (0, 1)],
    *[Case("Gemm", X, reals([3, 4], seed=2), reals(c, seed=3), alpha=0.5, beta=2.0, want=gemm(0.5, 2))
      for c in ([2, 4], [4], [2, 1], [1], [])],
    *[Case("Einsum", *(reals(s, seed=k) for k, s in enumerate(shapes)), equation=given,
           want=einsum(meant or given)) for given, meant, shapes in
      (("ij,jk->ik", None, ([2, 3], [3, 4])), ("ij->ji", None, ([2, 3],)), ("ij->i", None, ([2, 3],)),
       ("ij->", None, ([2, 3],)), ("i,j->ij", None, ([2], [3])), ("bij,bjk->bik", None, ([2, 3, 2], [2, 2, 3])),
       ("ij,jk", "ij,jk->ik", ([2, 3], [3, 4])), ("ba", "ba->ab", ([2, 3],)), ("bhqd,bhkd->bhqk", None, ([2, 2, 3, 4],) * 2),
       ("...ij,...jk->...ik", "abij,bjk->abik", ([2, 3, 2, 2], [3, 2, 4])), ("...i->...", "abi->ab", ([2, 3, 2],)),
       ("i...->...i", "iab->abi", ([2, 3, 4],)), ("Ab,bC->AC", None, ([2, 3], [3, 2])), ("i j , j k -> i k", "ij,jk->ik", ([2, 3], [3, 2])),
       ("ij,jk,kl->il", None, ([2, 3], [3, 4], [4, 2])), ("i,i,ij->j", None, ([2], [2], [2, 3])),
       ("ijk,ij->", None, ([2, 3, 2], [2, 3])), ("bi,bj->bji", None, ([2, 3], [2, 2])), ("ij,kl->jl", None, ([2, 3], [2, 4])))],
]


def layer_norm(axis, epsilon):
    def want(x, scale, bias=None):
        axes = range(axis % x.rank, x.rank)
        mean = reduced(x, axes, 1, lambda v: sum(v) / len(v))
        variance = reduced(zipped(lambda a, m: (a - m) ** 2, x, mean), axes, 1, lambda v: sum(v) / len(v))
        return build(x.shape, lambda i: (x[i] - mean[i]) / math.sqrt(variance[i] + epsilon) * scale[i]
                     + (bias[i] if bias else 0))
    return want


NORMS = [
    Case("LayerNormalization", X, reals([3], seed=2), since=17, want=layer_norm(-1, 1e-5)),
    Case("LayerNormalization", X, reals([3], seed=2), reals([3], seed=3), since=17, want=layer_norm(-1, 1e-5)),
    Case("LayerNormalization", reals([2, 3, 4]), reals([3, 4], seed=2), reals([3, 4], seed=3), axis=1, epsilon=0.125,
         since=17, want=layer_norm(1, 0.125)),
]


def class_loss(reduction, ignore, is_log, wants_log):
    """Scores [n, classes, ...]: the negative log-probability of each label, weighted, and combined."""
    def want(scores, labels, weights=None):
        logs = scores if is_log else lines(scores, 1, log_softmax)
        factors = build(labels.shape, lambda i: 0 if labels[i] == ignore else weights.data[labels[i]] if weights else 1)
        losses = build(labels.shape, lambda i: 0 if labels[i] == ignore else
                       -factors[i] * logs[i[:1] + (labels[i],) + i[1:]])
        loss = losses if reduction == "none" else scalar(
            sum(losses.data) / (sum(factors.data) if reduction == "mean" else 1))
        return [loss, logs] if wants_log else loss
    return want


def log_softmax(line):
    top = max(line)
    total = top + math.log(sum(math.exp(x - top) for x in line))
    return [x - total for x in line]


def soft_loss(reduction):
    """Probabilities of the classes as labels: PyTorch's mean is over the samples, whatever the weights."""
    def want(scores, labels, weights=None):
        logs, (n, classes, *rest) = lines(scores, 1, log_softmax), scores.shape
        losses = build([n, *rest], lambda i: -sum(
            labels[i[:1] + (c,) + i[1:]] * logs[i[:1] + (c,) + i[1:]] * (weights.data[c] if weights else 1)
            for c in range(classes)))
        return losses if reduction == "none" else scalar(
            sum(losses.data) / (len(losses.data) if reduction == "mean" else 1))
    return want


def losses():
    scores, labels = reals([3, 4], seed=5), ints(2, -100, 0)
    deep, places = reals([2, 3, 4], seed=6), whole([2, 4], 0, 3, seed=7)
    weights = floats(0.5, 1, 2, 0.25)
    for op, is_log in (("SoftmaxCrossEntropyLoss", False), ("NegativeLogLikelihoodLoss", True)):
        for reduction in ("mean", "sum", "none"):
            options = {"reduction": reduction}
            yield Case(op, scores, labels, ignore_index=-100, want=class_loss(reduction, -100, is_log, 0), **options)
            yield Case(op, scores, ints(2, 1, 0), weights, want=class_loss(reduction, None, is_log, 0), **options)
            yield Case(op, scores, ints(2, 1, 0), weights, ignore_index=1, want=class_loss(reduction, 1, is_log, 0), **options)
            yield Case(op, deep, places, want=class_loss(reduction, None, is_log, 0), **options)
            if not is_log:
                yield Case(op, deep, places, want=class_loss(reduction, None, is_log, 1), **options)
        yield Case(op, scores, ints(2, 1, 0, kind="I"), want=class_loss("mean", None, is_log, 0))
    for reduction in ("mean", "sum", "none"):
        for inputs in ((scores, reals([3, 4], seed=8)), (scores, reals([3, 4], seed=8), weights), (deep, reals([2, 3, 4], seed=9))):
            yield Case("SoftmaxCrossEntropyLoss", *inputs, ignore_index=-100, want=soft_loss(reduction), reduction=reduction)


def depth_to_space(b, mode):
    def want(x):
        depth = x.shape[1] // (b * b)

        def element(i):
            n, c, h, w = i
            block = (h % b) * b + w % b
            return x[n, block * depth + c if mode == "DCR" else c * b * b + block, h // b, w // b]
        return build([x.shape[0], depth, x.shape[2] * b, x.shape[3] * b], element)
    return want


def space_to_depth(b):
    def want(x):
        depth = x.shape[1]
        return build([x.shape[0], depth * b * b, x.shape[2] // b, x.shape[3] // b], lambda i: x[
            i[0], i[1] % depth, i[2] * b + i[1] // depth // b, i[3] * b + i[1] // depth % b])
    return want


# Resize, one dimension after the other. Neighbours are looked up as ONNX's text says, not by a matrix.


def origin(o, size, length, scale, form):
    if form == "align_corners":
        return 0 if length == 1 else o * (size - 1) / (length - 1)
    if form == "asymmetric":
        return o / scale
    if form == "pytorch_half_pixel" and length == 1:
        return 0
    if form == "half_pixel_symmetric":
        return size / 2 * (1 - length / (scale * size)) + (o + 0.5) / scale - 0.5
    return (o + 0.5) / scale - 0.5


def pick(line, x, how):
    k = {"round_prefer_floor": math.ceil(x - 0.5), "round_prefer_ceil": math.floor(x + 0.5), "floor": math.floor(x),
         "ceil": math.ceil(x)}[how]
    return line[min(max(k, 0), len(line) - 1)]


def blend(line, x, mode, a, excludes, narrowing):
    """Neighbours within reach of x; with narrowing < 1 the filter is as wide as what an output stands for."""
    def tent(t):
        return max(0, 1 - abs(t))

    def cubic(t):
        t = abs(t)
        if t <= 1:
            return (a + 2) * t ** 3 - (a + 3) * t ** 2 + 1
        return a * t ** 3 - 5 * a * t ** 2 + 8 * a * t - 4 * a if t < 2 else 0
    total = weight_sum = 0
    for k in range(-40, len(line) + 40):
        weight = (tent if mode == "linear" else cubic)((k - x) * narrowing)
        if excludes and not 0 <= k < len(line):
            continue
        total += weight * line[min(max(k, 0), len(line) - 1)]
        weight_sum += weight
    return total / weight_sum


def resized(axes, scales, lengths, mode="nearest", form="half_pixel", how="round_prefer_floor", a=-0.75, excludes=0,
            antialias=0):
    def want(x, *_):
        for axis, scale, length in zip(axes, scales, lengths):
            def line_of(line, scale=scale, length=length):
                places = [origin(o, len(line), length, scale, form) for o in range(length)]
                if mode == "nearest":
                    return [pick(line, p, how) for p in places]
                return [blend(line, p, mode, a, excludes, min(scale, 1) if antialias else 1) for p in places]
            if scale != 1:
                x = lines(x, axis, line_of)
        return x
    return want


FORMS = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")
PICTURE = reals([1, 2, 4, 5], seed=41)
SMALL = reals([2, 6], seed=42)


def resizes():
    none = None
    for form in FORMS:
        for how in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            yield Case("Resize", SMALL, none, floats(1, 1.75), fixed=[2], coordinate_transformation_mode=form,
                       nearest_mode=how, want=resized([1], [1.75], [10], form=form, how=how),
                       since=19 if form == "half_pixel_symmetric" else 13)
        for mode in ("linear", "cubic"):
            for scale in (1.75, 0.5):
                yield Case("Resize", SMALL, none, floats(1, scale), fixed=[2], mode=mode, since=19,
                           coordinate_transformation_mode=form,
                           want=resized([1], [scale], [math.floor(6 * scale)], mode, form))
        yield Case("Resize", PICTURE, none, none, ints(1, 2, 8, 3), fixed=[3], mode="linear", since=19,
                   coordinate_transformation_mode=form, want=resized([2, 3], [2, 0.6], [8, 3], "linear", form))
    yield Case("Resize", PICTURE, none, floats(1, 1, 2, 2), fixed=[2], mode="nearest", nearest_mode="floor",
               coordinate_transformation_mode="asymmetric",
               want=resized([2, 3], [2, 2], [8, 10], form="asymmetric", how="floor"))
    yield Case("Resize", SMALL, none, floats(1, 0.8), fixed=[2], mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1,
               want=resized([1], [0.800000011920929], [4], "cubic", a=-0.5, excludes=1))
    for mode in ("linear", "cubic"):
        yield Case("Resize", SMALL, none, floats(1, 0.5), fixed=[2], mode=mode, antialias=1, since=18,
                   want=resized([1], [0.5], [3], mode, antialias=1))
    yield Case("Resize", PICTURE, none, none, ints(8, 10), fixed=[3], axes=[2, 3], since=18,
               want=resized([2, 3], [2, 2], [8, 10]))
    for policy, scale in (("not_larger", 1.5), ("not_smaller", 2)):
        yield Case("Resize", PICTURE, none, none, ints(6, 10), fixed=[3], axes=[2, 3], since=18, mode="linear",
                   keep_aspect_ratio_policy=policy,
                   want=resized([2, 3], [scale] * 2, [round(4 * scale), math.floor(5 * scale + 0.5)], "linear"))


PICTURES = [
    *[Case("DepthToSpace", IMAGES, blocksize=2, **options, want=depth_to_space(2, mode))
      for mode, options in (("DCR", {}), ("DCR", {"mode": "DCR"}), ("CRD", {"mode": "CRD"}))],
    Case("SpaceToDepth", reals([2, 3, 4, 6], seed=8), blocksize=2, want=space_to_depth(2)),
    *resizes(),
]

CASES = [*PRODUCTS, *NORMS, *losses(), *PICTURES]
