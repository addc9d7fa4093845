"""What a random network is made of: each move takes a value, appends a node or a few, and returns a new value.

Moves do not know whether they are admissible; the builder rejects those that are not, and another is tried.
"""

import math

import drawing
import selecting
from builder import Reject
from elementwise import STOP, UNARY
from weights import bias, weight

SIZES = (1, 2, 3, 4, 5, 7)


def features(b, x):
    size = b.dims(x)[-1] if b.rank(x) else 0
    if size < 1:
        raise Reject("no last dimension of its own")
    return size


def linear(b, x, size=None):
    n, m = features(b, x), size or b.random.choice(SIZES)
    form = b.random.randrange(4)
    if form == 0 and b.rank(x) == 2:
        if b.random.random() < 0.5:
            return b.emit("Gemm", x, weight(b, [m, n]), bias(b, m), transB=1)
        return b.emit("Gemm", x, weight(b, [n, m]), bias(b, m))
    if form == 1:
        w = b.emit("Transpose", weight(b, [m, n]), perm=[1, 0])
    else:
        w = weight(b, [n, m])
    y = b.emit("MatMul", x, w)
    if b.random.random() < 0.6:
        operands = [y, bias(b, m)]
        b.random.shuffle(operands)
        y = b.emit("Add", *operands)
    return y


def dot(b, x):
    """With a vector: one dimension less."""
    return b.emit("MatMul", x, weight(b, [features(b, x)]))


def left_product(b, x):
    """W x, with the weight on the left: along the dimension before the last."""
    if b.rank(x) < 3 or b.dims(x)[-2] < 1:
        raise Reject("no dimension before the last")
    return b.emit("MatMul", weight(b, [b.random.choice(SIZES), b.dims(x)[-2]]), x)


def unary(b, x):
    low, high = b.bounds(x)
    is_known = b.batch_axis(x) is None  # else other samples have other values
    fits = [op for op, row in UNARY.items() if row.low <= low and high <= row.high and (is_known or row.low < 0)]
    if not fits:
        return b.emit("Tanh", x)
    return b.emit(b.random.choice(fits), x)


def positive_unary(b, x):
    """What needs a positive argument, after what makes one."""
    y = b.emit("Add", b.emit("Mul", x, x), b.number(b.random.choice([0.25, 0.5, 1.0])))
    return b.emit(b.random.choice(["Sqrt", "Log", "Reciprocal"]), y)


def power(b, x):
    is_positive = b.bounds(x)[0] > 0.2 and b.batch_axis(x) is None
    exponent = b.random.choice([2.0, 3.0] + [0.5, 1.5, -1.0] * is_positive)
    return b.emit("Pow", x, b.number(exponent))


def swish(b, x):
    """SiLU as exporters write it."""
    return b.emit("Mul", x, b.emit("Sigmoid", x))


def stopped(b, x, pool):
    """A value that is only looked at, beside one that is trained; or straight through it, as quantisation is."""
    if b.random.random() < 0.5:
        rounded = b.emit(b.random.choice(["Floor", "Ceil", "Round"]), b.emit("Mul", x, b.number(4.0)))
        return b.emit("Add", x, b.emit("Identity", b.emit("Sub", rounded, x), **{STOP: "1"}))
    return b.emit("Mul", x, b.emit("Identity", other_of(b, x, pool), **{STOP: "1"}))


def raised(b, x, pool):
    """To powers that are computed."""
    base = b.emit("Add", b.emit("Mul", x, x), b.number(0.5))
    return b.emit("Pow", base, b.emit("Tanh", other_of(b, x, pool)))


def undefined(b, x):
    """Rows of zeros would be divided by zero: where that was, there is a number."""
    return b.emit("Where", b.emit("IsNaN", x), b.number(0.0), x)


def clip(b, x):
    return b.emit("Clip", x, b.number(-0.8), b.number(0.9))


def other_of(b, x, pool):
    """A value that broadcasts with x."""
    return b.random.choice([name for name in pool if name != x and b.kind(name) == "f"] or [x])


def combine(b, x, pool):
    y = other_of(b, x, pool)
    op = b.random.choice(["Add", "Add", "Mul", "Mul", "Sub", "Max", "Min", "Div"])
    if op == "Div":
        y = b.emit("Add", b.emit("Mul", y, y), b.number(0.5))
    return b.emit(op, x, y)


def with_parameter(b, x):
    """By a parameter of a shape that broadcasts: some of the last dimensions, some of them 1, or a scalar."""
    dims = b.dims(x)
    kept = dims[b.random.randrange(len(dims) + 1):]
    shape = [1 if size < 0 or b.random.random() < 0.25 else size for size in kept]
    op = b.random.choice(["Add", "Mul", "Mul", "Sub", "Div", "Max"])
    near_one = op in ("Mul", "Div")
    p = b.parameter(shape, 0.2 if near_one else 0.4, 1.0 if near_one else 0.0, leaf=b.random.choice(["scale", "weight", "gate"]))
    operands = [x, p]
    if op != "Div" and b.random.random() < 0.3:
        operands.reverse()
    return b.emit(op, *operands)


def prelu(b, x):
    channels = b.dims(x)[1] if b.rank(x) > 1 else 0
    if channels < 1:
        raise Reject("no channels")
    slope = b.parameter(b.random.choice([[1], [channels] + [1] * (b.rank(x) - 2)]), 0.1, 0.25)
    return b.emit("PRelu", x, slope)


def layer_norm(b, x):
    axes = [i for i in b.free_axes(x) if all(k in b.free_axes(x) for k in range(i, b.rank(x)))]
    if not axes:
        raise Reject("nothing to normalise")
    axis = axes[-1] if b.random.random() < 0.7 else b.random.choice(axes)
    shape = b.dims(x)[axis:]
    if math.prod(shape) < 3:
        raise Reject("too few elements")
    inputs = [x, weight(b, shape, 0.9, deviation=0.2, mean=1.0)]
    if b.random.random() < 0.7:
        inputs.append(b.parameter(shape, 0.2, leaf="bias"))
    return b.emit("LayerNormalization", *inputs, axis=axis if b.random.random() < 0.5 else axis - b.rank(x), epsilon=1e-3)


def rms_norm(b, x):
    if features(b, x) < 2:
        raise Reject("too few elements")
    square = b.emit("Mul", x, x) if b.random.random() < 0.5 else b.emit("Pow", x, b.number(2.0))
    mean = b.emit("ReduceMean", square, b.integers(-1), keepdims=1)
    root = b.emit("Sqrt", b.emit("Add", mean, b.number(0.01)))
    y = b.emit("Div", x, root) if b.random.random() < 0.5 else b.emit("Mul", x, b.emit("Reciprocal", root))
    scale = b.parameter([features(b, x)], 0.2, 1.0)
    if b.random.random() < 0.3:  # Gemma's
        scale = b.emit("Add", b.parameter([features(b, x)], 0.2), b.number(1.0))
    return b.emit("Mul", y, scale)


def instance_norm(b, x):
    dims = b.dims(x)
    if b.rank(x) < 3 or dims[0] > 0 or dims[1] < 1 or math.prod(dims[2:]) < 3:
        raise Reject("no channels")
    channels = dims[1]
    return b.emit("InstanceNormalization", x, b.parameter([channels], 0.2, 1.0), b.parameter([channels], 0.2, leaf="bias"),
                  epsilon=1e-3)


def unit_norm(b, x):
    axis = b.random.choice(b.free_axes(x) or [0])
    return b.emit("LpNormalization", x, axis=axis, p=2)


def softmax(b, x):
    axes = b.free_axes(x)
    if not axes:
        raise Reject("no dimension of its own")
    return b.emit(b.random.choice(["Softmax", "Softmax", "LogSoftmax"]), x, axis=b.random.choice(axes))


REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceL1",
              "ReduceSumSquare", "ReduceLogSumExp"]


def reduce(b, x):
    axes = b.free_axes(x)
    chosen = [i for i in axes if b.random.random() < 0.5] or axes[:1]
    if not chosen:
        raise Reject("nothing to reduce")
    return b.emit(b.random.choice(REDUCTIONS), x, b.integers(*chosen), keepdims=b.random.randrange(2))


def pool_sequence(b, x):
    """The mean over a dimension and what is left: pooling, or subtracting it again."""
    axes = b.free_axes(x)
    if not axes:
        raise Reject("nothing to pool")
    mean = b.emit("ReduceMean", x, b.integers(b.random.choice(axes)), keepdims=b.random.randrange(2))
    return b.emit("Sub", x, mean) if b.random.random() < 0.4 else mean


def split_dimension(b, x):
    dims = b.dims(x)
    able = [i for i, size in enumerate(dims) if size > 3 and any(size % k == 0 for k in range(2, size))]
    if not able:
        raise Reject("nothing to split")
    axis = b.random.choice(able)
    factor = b.random.choice([k for k in range(2, dims[axis]) if dims[axis] % k == 0])
    return reshape_to(b, x, dims[:axis] + [factor, dims[axis] // factor] + dims[axis + 1:])


def merge_dimensions(b, x):
    """Two neighbours become one; the batch takes the next one in, as flattening for a loss does."""
    dims = b.dims(x)
    if len(dims) < 2:
        raise Reject("nothing to merge")
    axis = b.random.randrange(len(dims) - 1)
    if dims[axis + 1] < 0:
        raise Reject("the batch inside")
    return reshape_to(b, x, dims[:axis] + [dims[axis] * dims[axis + 1]] + dims[axis + 2:])


def reshape_to(b, x, dims):
    return b.emit("Reshape", x, b.integers(*(size if size > 0 else -1 for size in dims)))


def transpose(b, x):
    order = list(range(b.rank(x)))
    if len(order) < 2:
        raise Reject("nothing to transpose")
    b.random.shuffle(order)
    return b.emit("Transpose", x, perm=order)


def one_more(b, x):
    return b.emit("Unsqueeze", x, b.integers(b.random.randrange(b.rank(x) + 1)))


def one_less(b, x):
    ones = [i for i, size in enumerate(b.dims(x)) if size == 1]
    if not ones:
        raise Reject("no dimension of size 1")
    return b.emit("Squeeze", x, b.integers(b.random.choice(ones)))


def slice_(b, x):
    able = [i for i in b.free_axes(x) if b.dims(x)[i] > 1]
    if not able:
        raise Reject("nothing to slice")
    axis = b.random.choice(able)
    size = b.dims(x)[axis]
    step = b.random.choice([1, 1, 1, 2, -1])
    start, end = sorted(b.random.sample(range(size + 1), 2))
    if step < 0:
        start, end = end - 1, start - 1 - size if start else -size - 1
    return b.emit("Slice", x, b.integers(start), b.integers(end), b.integers(axis), b.integers(step))


def concat(b, x, pool):
    axes = b.free_axes(x)
    if not axes:
        raise Reject("nothing to join along")
    axis = b.random.choice(axes)
    fits = [name for name in pool if b.rank(name) == b.rank(x) and b.kind(name) == "f" and
            all(one == other or i == axis for i, (one, other) in enumerate(zip(b.dims(name), b.dims(x))))]
    pieces = [x] + [b.random.choice(fits) for _ in range(b.random.choice([1, 1, 2]))]
    b.random.shuffle(pieces)
    return b.emit("Concat", *pieces, axis=axis)


def split_and_use(b, x):
    """Both halves, one as the gate of the other, or back in the other order."""
    able = [i for i in b.free_axes(x) if b.dims(x)[i] % 2 == 0]
    if not able:
        raise Reject("no halves")
    axis = b.random.choice(able)
    half = b.dims(x)[axis] // 2
    one, other = b.emit("Split", x, b.integers(half, half), outputs=2, axis=axis)
    if b.random.random() < 0.5:
        return b.emit("Mul", one, b.emit(b.random.choice(["Sigmoid", "Tanh", "Gelu"]), other))
    return b.emit("Concat", b.emit("Neg", other), one, axis=axis)


def pad(b, x):
    dims = b.dims(x)
    low, high = ([0 if size < 0 else b.random.choice([0, 0, 1]) for size in dims] for _ in "lh")
    if not any(low + high):
        raise Reject("no padding")
    return b.emit("Pad", x, b.integers(*low, *high), b.number(b.random.choice([0.0, 0.5])))


def expand(b, x):
    ones = [i for i, size in enumerate(b.dims(x)) if size == 1]
    if not ones:
        raise Reject("no dimension of size 1")
    axis, count = b.random.choice(ones), b.random.choice([2, 3])
    if b.random.random() < 0.5:
        return b.emit("Tile", x, b.integers(*(count if i == axis else 1 for i in range(b.rank(x)))))
    return b.emit("Expand", x, b.integers(*(count if i == axis else 1 for i in range(b.rank(x)))))


def gather(b, x):
    able = b.free_axes(x)
    if not able:
        raise Reject("nothing to index")
    axis = b.random.choice(able)
    size = b.dims(x)[axis]
    if b.random.random() < 0.25:
        return b.emit("Gather", x, b.number(b.random.randrange(-size, size), "i"), axis=axis)
    count = b.random.choice([1, 2, 3, size])
    return b.emit("Gather", x, b.integers(*(b.random.randrange(size) for _ in range(count))), axis=axis)


def gather_elements(b, x):
    """By indices that are an input, one per element of each sample, or known ones of a parameter."""
    axes = b.free_axes(x)
    if b.batch_axis(x) != 0 or b.dims(x)[0] != -1 or not axes:
        raise Reject("nothing to index")
    axis = b.random.choice(axes)
    dims = b.dims(x)
    indices = b.input([size if i != axis else b.random.choice([1, 2, size]) for i, size in enumerate(dims)], "i", dims[axis])
    return b.emit("GatherElements", x, indices, axis=axis)


def tied_extreme(b, x):
    """The extreme of elements that stand there several times: all that are equal share its gradient."""
    axes = b.free_axes(x)
    if not axes:
        raise Reject("nothing to reduce")
    axis = b.random.choice(axes)
    form = b.random.randrange(3)
    if form == 0:
        copies = b.emit("Concat", x, x, axis=axis)
    elif form == 1:
        size = b.dims(x)[axis]
        picks = [b.random.randrange(size) for _ in range(2)]
        copies = b.emit("Gather", x, b.integers(*picks, *picks), axis=axis)
    else:  # two values that are equal in some places
        return b.emit(b.random.choice(["Max", "Min"]), x, b.emit("Where", b.emit("Greater", x, b.number(0.2)), x, b.emit("Neg", x)))
    return b.emit(b.random.choice(["ReduceMax", "ReduceMin"]), copies, b.integers(axis), keepdims=b.random.randrange(2))


def scatter_elements(b, x, pool):
    axes = b.free_axes(x)
    if b.batch_axis(x) != 0 or b.dims(x)[0] != -1 or not axes:
        raise Reject("nothing to index")
    axis = b.random.choice(axes)
    same = [name for name in pool if b.kind(name) == "f" and b.dims(name) == b.dims(x)]
    updates = b.random.choice(same)
    indices = b.input(b.dims(x), "i", b.dims(x)[axis])  # some of them repeated
    return b.emit("ScatterElements", x, indices, updates, axis=axis, reduction=b.random.choice(["add", "none", "none", "max", "min"]))


def choose(b, x, pool):
    """Where of a comparison, or of a mask that is an input."""
    y = other_of(b, x, pool)
    kind = b.random.randrange(3)
    if kind == 0:
        condition = b.emit(b.random.choice(["Greater", "Less", "GreaterOrEqual", "LessOrEqual"]), x, y)
    elif kind == 1:
        condition = b.emit("Greater", x, b.number(b.random.choice([0.0, 0.3, -0.5])))
    else:
        dims = b.dims(x)
        if b.batch_axis(x) != 0 or dims[0] != -1:
            raise Reject("no mask of this shape")
        if b.random.random() < 0.5:
            condition = b.input(dims, "b")
        else:
            ids = b.input(dims, "i", 3)
            condition = b.emit(b.random.choice(["Equal", "Less"]), ids, b.number(1, "i"))
    if b.random.random() < 0.3:
        condition = b.emit("Not", condition)
    return b.emit("Where", condition, x, y if b.random.random() < 0.6 else b.number(0.0))


def triangle(b, x):
    return b.emit("Trilu", x, upper=b.random.randrange(2))


def cumsum(b, x):
    axes = b.free_axes(x)
    if not axes:
        raise Reject("nothing to sum")
    return b.emit("CumSum", x, b.number(b.random.choice(axes), "i"), exclusive=b.random.randrange(2), reverse=b.random.randrange(2))


def embedding(b, x):
    """Rows of a table by an input of ids, which go where x goes."""
    dims = b.dims(x)
    if b.batch_axis(x) != 0 or dims[0] != -1:
        raise Reject("the batch is elsewhere")
    rows = b.random.choice([2, 5, 7])
    ids = b.input(dims[:b.random.randrange(1, len(dims) + 1)], "i", rows)
    return b.emit("Gather", weight(b, [rows, b.random.choice([dims[-1] if dims[-1] > 0 else 2, 3])], 0.8), ids, axis=0)


def numbers_of_ids(b, x):
    """A float made of an integer input."""
    if b.batch_axis(x) != 0 or b.dims(x)[0] != -1:
        raise Reject("the batch is elsewhere")
    ids = b.input(b.dims(x), "i", 3)
    if b.random.random() < 0.5:
        return b.emit("Mul", x, b.emit("Cast", ids, to=1))
    return b.emit("OneHot", ids, b.number(3, "i"), b.constant([2], [0.0, 1.0]), axis=-1)


def convolution(b, x):
    dims = b.dims(x)
    if b.rank(x) not in (3, 4) or dims[0] > 0 or any(size < 1 for size in dims[1:]):
        raise Reject("no image")
    rank, channels = b.rank(x) - 2, dims[1]
    group = b.random.choice([1, 1, channels])
    out = group * b.random.choice([1, 1, 2, 3]) if group > 1 else b.random.choice([1, 2, 3])
    kernel = [b.random.choice([1, 2, 3]) for _ in range(rank)]
    pads = [b.random.choice([0, 1]) for _ in range(2 * rank)]
    is_transposed = b.random.random() < 0.2
    attributes = dict(kernel_shape=kernel, strides=[b.random.choice([1, 1, 2]) for _ in range(rank)],
                      dilations=[b.random.choice([1, 1, 2]) for _ in range(rank)], pads=pads, group=group)
    shape = [channels, out // group, *kernel] if is_transposed else [out, channels // group, *kernel]
    inputs = [x, weight(b, shape, 0.9, deviation=0.8 / math.sqrt(channels // group * math.prod(kernel)))]
    if b.random.random() < 0.6:
        inputs.append(b.parameter([out], 0.3, leaf="bias"))
    return b.emit("ConvTranspose" if is_transposed else "Conv", *inputs, **attributes)


def pool(b, x):
    dims = b.dims(x)
    if b.rank(x) not in (3, 4) or dims[0] > 0 or any(size < 1 for size in dims[1:]):
        raise Reject("no image")
    if b.random.random() < 0.2:
        return b.emit("GlobalAveragePool", x)
    kernel = [b.random.choice([1, 2, min(3, size)]) for size in dims[2:]]
    op = b.random.choice(["MaxPool", "AveragePool"])
    pads = [b.random.choice([0, 1]) if size > 1 else 0 for size in kernel] * 2
    extra = {"count_include_pad": b.random.randrange(2)} if op == "AveragePool" else {}
    return b.emit(op, x, kernel_shape=kernel, strides=[b.random.choice([1, 2]) for _ in kernel], pads=pads, **extra)


def product_of_two(b, x, pool):
    """Two activations multiplied as matrices."""
    y = other_of(b, x, pool)
    if b.rank(x) < 3 or b.rank(y) < 3:
        raise Reject("no matrices per sample")
    if b.random.random() < 0.5:
        order = list(range(b.rank(y)))
        y = b.emit("Transpose", y, perm=order[:-2] + [order[-1], order[-2]])
    return b.emit("MatMul", x, y)


def parallel(b, x, _=None):
    """Two branches that end in a bias each, and the stream: the gradient of both biases may be one value."""
    size = features(b, x)
    branches = []
    for _ in range(2):
        y = b.emit("MatMul", x, b.parameter([size, size], 0.4))
        y = b.emit(b.random.choice(["Tanh", "Gelu", "Sigmoid"]), y)
        y = b.emit("MatMul", y, b.parameter([size, size], 0.4))
        branches.append(b.emit("Add", y, b.parameter([size], 0.3, leaf="bias")))
    if b.random.random() < 0.5:  # what bends a sum needs the whole of it, in each branch
        branches = [b.emit(b.random.choice(["Gelu", "Tanh"]), branch) for branch in branches]
    return b.emit("Add", b.emit("Add", x, branches[0]), branches[1])


def attention(b, x, _=None):
    """Of [batch, sequence, features]."""
    dims = b.dims(x)
    if len(dims) != 3 or dims[0] != -1 or dims[2] < 2:
        raise Reject("no sequence")
    length, size = dims[1:]
    able = [k for k in (1, 2, 3, 4) if size % k == 0 and k % b.tp == 0]
    if not able:
        raise Reject("tp does not divide the heads")
    heads = b.random.choice(able)
    width = size // heads
    form = b.random.randrange(3)
    if form == 0:  # slices of one weight and of one bias, as in torch.nn.MultiheadAttention
        w, bias_of = b.parameter([size, 3 * size]), b.parameter([3 * size], 0.2, leaf="bias")
        parts = [b.emit("Add", b.emit("MatMul", x, piece(b, w, 1, i * size, size)), piece(b, bias_of, 0, i * size, size))
                 for i in range(3)]
    elif form == 1:
        packed = b.emit("Add", b.emit("MatMul", x, b.parameter([size, 3 * size])), b.parameter([3 * size], 0.2, leaf="bias"))
        parts = b.emit("Split", packed, b.integers(size, size, size), outputs=3, axis=2)
    else:
        parts = [b.emit("MatMul", x, b.parameter([size, size])) for _ in range(3)]
        if b.random.random() < 0.5:
            parts = [b.emit("Add", part, b.parameter([size], 0.2, leaf="bias")) for part in parts]
    split = b.integers(0, length, heads, width)
    q, k, v = (b.emit("Transpose", b.emit("Reshape", part, split), perm=order)
               for part, order in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])))
    scores = b.emit("Div", b.emit("MatMul", q, k), b.number(math.sqrt(width)))
    form = b.random.randrange(6)
    if form < 2:
        shares = selecting.masked_probabilities(b, scores)
    elif form == 2:
        shares = selecting.softmax_by_hand(b, scores, 3)
    elif form == 3:
        shares = selecting.hard_shares(b, scores)
    else:
        shares = b.emit("Softmax", hide_later(b, scores, length) if form == 4 else scores, axis=-1)
    y = b.emit("MatMul", shares, v)
    y = b.emit("Reshape", b.emit("Transpose", y, perm=[0, 2, 1, 3]), b.integers(0, length, size))
    return b.emit("MatMul", y, b.parameter([size, size]))


def piece(b, x, axis, start, size):
    return b.emit("Slice", x, b.integers(start), b.integers(start + size), b.integers(axis), b.integers(1))


def hide_later(b, scores, length):
    """As a choice: the sum would be a large number, which the builder does not take."""
    kept = b.constant([length, length], [int(j <= i) for i in range(length) for j in range(length)], "b")
    return b.emit("Where", kept, scores, b.number(-8.0))


def mlp(b, x, _=None):
    size = features(b, x)
    hidden = b.random.choice([2, 4, 6]) * (1 if size % 2 else size // 2)
    y = b.emit("Add", b.emit("MatMul", x, weight(b, [size, hidden], 0.7)), b.parameter([hidden], 0.3, leaf="bias"))
    act = b.random.choice(["Gelu", "Relu", "Tanh", "Sigmoid", "Softmax"])
    y = b.emit(act, y, **({"axis": -1} if act == "Softmax" else {}))
    return b.emit("Add", b.emit("MatMul", y, weight(b, [hidden, size], 0.7)), b.parameter([size], 0.3, leaf="bias"))


def drop(b, x):
    """Dropout, of a part that differs."""
    ratio, mode = b.number(b.random.choice([0.1, 0.25, 0.5, 0.7])), b.number(1, "b")
    return b.emit("Dropout", x, ratio, mode, **{drawing.ROWS_ARE: drawing.describe_rows(b.dims(x))})


def noise(b, x):
    """Each element times a random number in [0.5, 1.5)."""
    u = b.emit("RandomUniformLike", x, **{drawing.ROWS_ARE: drawing.describe_rows(b.dims(x))})
    return b.emit("Mul", x, b.emit("Add", u, b.number(0.5)))


# Of networks that draw.
DRAWS = [(drop, 45), (noise, 15)]

# (move, how often)
MOVES = [(linear, 14), (dot, 2), (left_product, 3), (unary, 12), (positive_unary, 3), (power, 2), (swish, 2), (undefined, 1),
         (clip, 2), (with_parameter, 10), (prelu, 1), (layer_norm, 5), (rms_norm, 3), (instance_norm, 2), (unit_norm, 2),
         (softmax, 4), (reduce, 6), (pool_sequence, 4), (split_dimension, 4), (merge_dimensions, 4), (transpose, 4),
         (one_more, 2), (one_less, 2), (slice_, 5), (split_and_use, 4), (pad, 2), (expand, 2), (gather, 4),
         (gather_elements, 3), (tied_extreme, 2), (triangle, 1), (cumsum, 1), (embedding, 3), (numbers_of_ids, 2), (convolution, 8), (pool, 4),
         (parallel, 3), (attention, 3), (mlp, 3), *selecting.MOVES]
PAIRS = [(combine, 12), (concat, 6), (scatter_elements, 3), (choose, 5), (stopped, 2), (raised, 1), (product_of_two, 4),
         *selecting.PAIRS]
