"""Reference of operators that sum: products, convolutions, reductions, norms, softmax, pools, losses."""

import math

import indexing
from indexing import lines, positive_axes, reduce_map, spread, sum_terms, sum_terms_backward, take, unbroadcast
from rows import FAR, Row, gap
from tensors import Array


def reshaped(x, shape):
    return Array(shape, x.data, x.kind)


def minus(a):
    return Array(a.shape, [-x for x in a.data])


# Products ------------------------------------------------------------------------------------------------------------


def as_matrices(a, b):
    """One-dimensional operands as a row and a column; and the result's shape from that of matrices."""
    left = a.shape if a.rank > 1 else (1,) + a.shape
    right = b.shape if b.rank > 1 else b.shape + (1,)

    def strip(shape):
        shape = shape[:-2] + shape[-1:] if a.rank == 1 else shape
        return shape[:-1] if b.rank == 1 else shape
    return left, right, strip


def matmul(_, a, b):
    left, right, strip = as_matrices(a, b)
    shape, terms = indexing.matmul_terms(left, right)
    return sum_terms(strip(shape), terms, a, b)


def matmul_backward(_, inputs, y, dy):
    left, right, _ = as_matrices(*inputs)
    return sum_terms_backward(indexing.matmul_terms(left, right)[1], *inputs, dy)


def gemm_terms(attributes, a, b):
    equation = f"{'ki' if attributes.get('transA') else 'ik'},{'jk' if attributes.get('transB') else 'kj'}->ij"
    return indexing.einsum_terms(equation, a.shape, b.shape)


def gemm(attributes, a, b, c=None):
    shape, terms = gemm_terms(attributes, a, b)
    y, alpha, beta = sum_terms(shape, terms, a, b), attributes.get("alpha", 1.0), attributes.get("beta", 1.0)
    bias = indexing.broadcast(c, shape).data if c else [0.0] * len(y.data)
    return Array(shape, [alpha * value + beta * other for value, other in zip(y.data, bias)])


def gemm_backward(attributes, inputs, y, dy):
    alpha, beta = attributes.get("alpha", 1.0), attributes.get("beta", 1.0)
    scaled = Array(dy.shape, [alpha * d for d in dy.data])
    result = list(sum_terms_backward(gemm_terms(attributes, *inputs[:2])[1], *inputs[:2], scaled))
    return result + [unbroadcast(Array(dy.shape, [beta * d for d in dy.data]), c.shape) for c in inputs[2:]]


def einsum(attributes, a, b):
    shape, terms = indexing.einsum_terms(attributes["equation"], a.shape, b.shape)
    return sum_terms(shape, terms, a, b)


def einsum_backward(attributes, inputs, y, dy):
    return sum_terms_backward(indexing.einsum_terms(attributes["equation"], *(x.shape for x in inputs))[1], *inputs, dy)


def windows(attributes, rank):
    return (tuple(attributes.get("strides", [1] * rank)), tuple(attributes.get("dilations", [1] * rank)),
            tuple(attributes.get("pads", [0] * 2 * rank)))


def add_channels(y, bias):
    """A number for each channel, dimension 1."""
    inner = math.prod(y.shape[2:])
    return Array(y.shape, [value + bias.data[at // inner % y.shape[1]] for at, value in enumerate(y.data)])


def sum_channels(dy):
    return [spread(dy, reduce_map(dy.shape, tuple(i for i in range(dy.rank) if i != 1)), (dy.shape[1],))]


def convolution(attributes, x, w, bias=None):
    shape, terms = indexing.convolution_terms(x.shape, w.shape, attributes.get("group", 1), *windows(attributes, x.rank - 2))
    y = sum_terms(shape, terms, x, w)
    return add_channels(y, bias) if bias else y


def convolution_backward(attributes, inputs, y, dy):
    x, w = inputs[:2]
    terms = indexing.convolution_terms(x.shape, w.shape, attributes.get("group", 1), *windows(attributes, x.rank - 2))[1]
    return list(sum_terms_backward(terms, x, w, dy)) + (sum_channels(dy) if len(inputs) > 2 else [])


def transposed_terms(attributes, x, w):
    """The convolution whose gradient this operator is goes from its result to its operand."""
    strides, dilations, pads = windows(attributes, x.rank - 2)
    group, rank = attributes.get("group", 1), x.rank - 2
    spatial = tuple((x.shape[2 + i] - 1) * strides[i] + dilations[i] * (w.shape[2 + i] - 1) + 1 - pads[i] - pads[rank + i]
                    for i in range(rank))
    shape = (x.shape[0], w.shape[1] * group) + spatial
    back, terms = indexing.convolution_terms(shape, w.shape, group, strides, dilations, pads)
    if back != x.shape:
        raise ValueError("a transposed convolution that does not fit")
    return shape, [(y, x_at, w_at) for x_at, y, w_at in terms]


def convolution_transpose(attributes, x, w, bias=None):
    y = sum_terms(*transposed_terms(attributes, x, w), x, w)
    return add_channels(y, bias) if bias else y


def convolution_transpose_backward(attributes, inputs, y, dy):
    terms = transposed_terms(attributes, *inputs[:2])[1]
    return list(sum_terms_backward(terms, *inputs[:2], dy)) + (sum_channels(dy) if len(inputs) > 2 else [])


# Reductions: (value of a line, derivative of one element given the line's values and result) -------------------------


def products_of_others(values):
    return [math.prod(values[:i] + values[i + 1:]) for i in range(len(values))]


def share(values, y):
    """Evenly among those that are the extreme, as PyTorch's amax."""
    return [float(x == y) / values.count(y) for x in values]


REDUCTIONS = {
    "ReduceSum": (sum, lambda v, y: [1.0] * len(v)),
    "ReduceMean": (lambda v: sum(v) / len(v), lambda v, y: [1 / len(v)] * len(v)),
    "ReduceMax": (max, share),
    "ReduceMin": (min, share),
    "ReduceProd": (math.prod, lambda v, y: products_of_others(v)),
    "ReduceL1": (lambda v: sum(map(abs, v)), lambda v, y: [1.0 if x > 0 else -1.0 for x in v]),
    "ReduceL2": (lambda v: math.sqrt(sum(x * x for x in v)), lambda v, y: [x / y for x in v]),
    "ReduceSumSquare": (lambda v: sum(x * x for x in v), lambda v, y: [2 * x for x in v]),
    "ReduceLogSumExp": (lambda v: math.log(sum(map(math.exp, v))), lambda v, y: [math.exp(x - y) for x in v]),
}


def are_tied(values):
    return values.count(max(values)) > 1


REDUCTION_MARGINS = {"ReduceMax": gap, "ReduceMin": lambda v: gap([-x for x in v]), "ReduceL1": lambda v: min(map(abs, v)),
                     "ReduceL2": lambda v: math.sqrt(sum(x * x for x in v))}


def reduction_row(op, value, slopes):
    def axes_of(x, axes):
        return positive_axes(axes.data, x.rank) if axes else tuple(range(x.rank))

    def forward(attributes, x, axes=None):
        over, keep = axes_of(x, axes), attributes.get("keepdims", 1)
        shape = [1 if i in over else size for i, size in enumerate(x.shape) if keep or i not in over]
        return Array(shape, [value([x.data[i] for i in line]) for line in lines(x.shape, over)])

    def backward(attributes, inputs, y, dy):
        x, result = inputs[0], [0.0] * len(inputs[0].data)
        for line, total, d in zip(lines(x.shape, axes_of(*(list(inputs) + [None])[:2])), y.data, dy.data):
            for i, slope in zip(line, slopes([x.data[i] for i in line], total)):
                result[i] = slope * d
        return [Array(x.shape, result)] + [None] * (len(inputs) - 1)

    def margin(attributes, x, axes=None):
        return min((REDUCTION_MARGINS[op]([x.data[i] for i in line]) for line in lines(x.shape, axes_of(x, axes))), default=FAR)

    def tied(attributes, x, axes=None):
        sign = {"ReduceMax": 1, "ReduceMin": -1}[op]
        return any(are_tied([sign * x.data[i] for i in line]) for line in lines(x.shape, axes_of(x, axes)))

    return Row(forward, backward, margin if op in REDUCTION_MARGINS else None, tied if op in ("ReduceMax", "ReduceMin") else None)


# What works on lines of several elements -----------------------------------------------------------------------------


def over_lines(x, axes, f):
    """f of the values of each line gives as many values."""
    data = [0.0] * len(x.data)
    for line in lines(x.shape, axes):
        for i, value in zip(line, f(line)):
            data[i] = value
    return Array(x.shape, data)


def softmax_of(values):
    """Of a row that sees nothing not a number, as ONNX has it."""
    top = max(values)
    if top == -math.inf:
        return [math.nan] * len(values)
    powers = [math.exp(value - top) for value in values]
    total = sum(powers)
    return [power / total for power in powers]


def softmax(attributes, x):
    axes = positive_axes([attributes.get("axis", -1)], x.rank)
    return over_lines(x, axes, lambda line: softmax_of([x.data[i] for i in line]))


def softmax_backward(attributes, inputs, y, dy):
    def back(line):
        if math.isnan(y.data[line[0]]):  # something else stands for these rows, and nothing flows to what they were made of
            return [0.0] * len(line)
        mean = sum(y.data[i] * dy.data[i] for i in line)
        return [y.data[i] * (dy.data[i] - mean) for i in line]
    return [over_lines(y, positive_axes([attributes.get("axis", -1)], y.rank), back)]


def log_softmax(attributes, x):
    y = softmax(attributes, x)
    return Array(x.shape, list(map(math.log, y.data)))


def log_softmax_backward(attributes, inputs, y, dy):
    def back(line):
        total = sum(dy.data[i] for i in line)
        return [dy.data[i] - math.exp(y.data[i]) * total for i in line]
    return [over_lines(y, positive_axes([attributes.get("axis", -1)], y.rank), back)]


def standardize(x, axes, epsilon):
    """(normalised, 1 / standard deviation of each element's line)"""
    inverse = [0.0] * len(x.data)

    def of(line):
        values = [x.data[i] for i in line]
        mean = sum(values) / len(values)
        variance = sum((value - mean) ** 2 for value in values) / len(values)
        for i in line:
            inverse[i] = 1 / math.sqrt(variance + epsilon)
        return [(value - mean) * inverse[line[0]] for value in values]
    return over_lines(x, axes, of), inverse


def standardize_backward(z, inverse, axes, dz):
    def of(line):
        count = len(line)
        mean, slope = sum(dz.data[i] for i in line) / count, sum(dz.data[i] * z.data[i] for i in line) / count
        return [inverse[i] * (dz.data[i] - mean - z.data[i] * slope) for i in line]
    return over_lines(z, axes, of)


def affine_row(find_axes, find_places):
    """A norm over `find_axes(attributes, x)` with a scale and a bias, whose element for each element of x `find_places`
    gives."""
    def forward(attributes, x, scale, bias=None):
        z, _ = standardize(x, find_axes(attributes, x), attributes.get("epsilon", 1e-5))
        at = find_places(x, scale)
        shift = [bias.data[i] for i in at] if bias else [0.0] * len(at)
        return Array(x.shape, [value * scale.data[i] + b for value, i, b in zip(z.data, at, shift)])

    def backward(attributes, inputs, y, dy):
        x, scale = inputs[:2]
        axes, at = find_axes(attributes, x), find_places(x, scale)
        z, inverse = standardize(x, axes, attributes.get("epsilon", 1e-5))
        dz = Array(x.shape, [d * scale.data[i] for d, i in zip(dy.data, at)])
        dscale = spread(Array(x.shape, [d * value for d, value in zip(dy.data, z.data)]), at, scale.shape)
        return [standardize_backward(z, inverse, axes, dz), dscale] + [spread(dy, at, b.shape) for b in inputs[2:]]
    return Row(forward, backward)


def by_channel(x, scale):
    inner = math.prod(x.shape[2:])
    return [at // inner % x.shape[1] for at in range(len(x.data))]


def lp_normalize(attributes, x):
    """p = 2."""
    axes = positive_axes([attributes.get("axis", -1)], x.rank)
    return over_lines(x, axes, lambda line: [x.data[i] / math.sqrt(sum(x.data[k] ** 2 for k in line)) for i in line])


def lp_normalize_backward(attributes, inputs, y, dy):
    x = inputs[0]

    def back(line):
        norm, slope = math.sqrt(sum(x.data[i] ** 2 for i in line)), sum(y.data[i] * dy.data[i] for i in line)
        return [(dy.data[i] - y.data[i] * slope) / norm for i in line]
    return [over_lines(x, positive_axes([attributes.get("axis", -1)], x.rank), back)]


def cumsum_pairs(x, axis, attributes):
    for line in lines(x.shape, (axis.data[0] % x.rank,)):
        ordered = line[::-1] if attributes.get("reverse") else line
        for k, i in enumerate(ordered):
            yield i, ordered[:k + (not attributes.get("exclusive"))]


def cumsum(attributes, x, axis):
    data = [0.0] * len(x.data)
    for i, earlier in cumsum_pairs(x, axis, attributes):
        data[i] = sum(x.data[k] for k in earlier)
    return Array(x.shape, data)


def cumsum_backward(attributes, inputs, y, dy):
    data = [0.0] * len(y.data)
    for i, earlier in cumsum_pairs(*inputs, attributes):
        for k in earlier:
            data[k] += dy.data[i]
    return [Array(y.shape, data), None]


# Pools ---------------------------------------------------------------------------------------------------------------


def pool_places(attributes, x):
    """(shape, for each element of the result the elements of x in its window)"""
    kernel, rank = attributes["kernel_shape"], x.rank - 2
    planes = Array((x.shape[0] * x.shape[1], 1) + x.shape[2:], x.data)
    shape, terms = indexing.convolution_terms(planes.shape, (1, 1) + tuple(kernel), 1, *windows(attributes, rank))
    places_of = [[] for _ in range(math.prod(shape))]
    for out, at, _ in terms:
        places_of[out].append(at)
    return x.shape[:2] + shape[2:], places_of


def max_pool(attributes, x):
    shape, places_of = pool_places(attributes, x)
    return Array(shape, [max(x.data[i] for i in window) for window in places_of])


def max_pool_backward(attributes, inputs, y, dy):
    x, data = inputs[0], [0.0] * len(inputs[0].data)
    for window, d in zip(pool_places(attributes, x)[1], dy.data):
        data[max(window, key=lambda i: x.data[i])] += d
    return [Array(x.shape, data)]


def max_pool_margin(attributes, x):
    return min((gap([x.data[i] for i in window]) for window in pool_places(attributes, x)[1]), default=FAR)


def pool_share(attributes, window):
    return 1 / (math.prod(attributes["kernel_shape"]) if attributes.get("count_include_pad") else len(window))


def max_pool_tied(attributes, x):
    return any(are_tied([x.data[i] for i in window]) for window in pool_places(attributes, x)[1])


def average_pool(attributes, x):
    shape, places_of = pool_places(attributes, x)
    return Array(shape, [sum(x.data[i] for i in window) * pool_share(attributes, window) for window in places_of])


def average_pool_backward(attributes, inputs, y, dy):
    data = [0.0] * len(inputs[0].data)
    for window, d in zip(pool_places(attributes, inputs[0])[1], dy.data):
        for i in window:
            data[i] += d * pool_share(attributes, window)
    return [Array(inputs[0].shape, data)]


def global_axes(x):
    return tuple(range(2, x.rank))


def global_average_pool(_, x):
    shape = x.shape[:2] + (1,) * (x.rank - 2)
    return Array(shape, [sum(x.data[i] for i in line) / len(line) for line in lines(x.shape, global_axes(x))])


def global_average_pool_backward(_, inputs, y, dy):
    x = inputs[0]
    back = take(dy, reduce_map(x.shape, global_axes(x)), x.shape)
    count = math.prod(x.shape[2:])
    return [Array(x.shape, [d / count for d in back.data])]


# Losses --------------------------------------------------------------------------------------------------------------


def counted(attributes, scores, labels):
    """Places of the scores of the labels that count; classes are dimension 1."""
    inner = math.prod(scores.shape[2:])
    ignored = attributes.get("ignore_index")
    return [(at // inner * scores.shape[1] + label) * inner + at % inner
            for at, label in enumerate(labels.data) if label != ignored]


def likelihood(attributes, scores, labels):
    places_of = counted(attributes, scores, labels)
    total = -sum(scores.data[i] for i in places_of)
    return Array((), [total / len(places_of) if attributes.get("reduction", "mean") == "mean" else total])


def likelihood_backward(attributes, inputs, y, dy):
    places_of, data = counted(attributes, *inputs), [0.0] * len(inputs[0].data)
    for i in places_of:
        data[i] -= dy.data[0] / (len(places_of) if attributes.get("reduction", "mean") == "mean" else 1)
    return [Array(inputs[0].shape, data), None]


def cross_entropy(attributes, scores, labels):
    return likelihood(attributes, log_softmax({"axis": 1}, scores), labels)


def cross_entropy_backward(attributes, inputs, y, dy):
    logs = log_softmax({"axis": 1}, inputs[0])
    dlogs = likelihood_backward(attributes, [logs, inputs[1]], y, dy)[0]
    return log_softmax_backward({"axis": 1}, inputs, logs, dlogs) + [None]


ROWS = {op: reduction_row(op, *row) for op, row in REDUCTIONS.items()}
ROWS |= {
    "AveragePool": Row(average_pool, average_pool_backward),
    "Conv": Row(convolution, convolution_backward),
    "ConvTranspose": Row(convolution_transpose, convolution_transpose_backward),
    "CumSum": Row(cumsum, cumsum_backward),
    "Einsum": Row(einsum, einsum_backward),
    "Gemm": Row(gemm, gemm_backward),
    "GlobalAveragePool": Row(global_average_pool, global_average_pool_backward),
    "InstanceNormalization": affine_row(lambda _, x: global_axes(x), by_channel),
    "LayerNormalization": affine_row(
        lambda attributes, x: tuple(range(attributes.get("axis", -1) % x.rank, x.rank)),
        lambda x, scale: indexing.broadcast_map(scale.shape, x.shape)),
    "LogSoftmax": Row(log_softmax, log_softmax_backward),
    "LpNormalization": Row(lp_normalize, lp_normalize_backward),
    "MatMul": Row(matmul, matmul_backward),
    "MaxPool": Row(max_pool, max_pool_backward, max_pool_margin, max_pool_tied),
    "NegativeLogLikelihoodLoss": Row(likelihood, likelihood_backward),
    "Softmax": Row(softmax, softmax_backward),
    "SoftmaxCrossEntropyLoss": Row(cross_entropy, cross_entropy_backward),
}
