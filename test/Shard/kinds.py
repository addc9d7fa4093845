"""Small models of two like layers, each with a construct that looks across what tensor parallelism cuts.

    kinds.py KIND > model.onnx        kinds.py lists them
    kinds.py --spec FILE              verifies each with `xlc`, partitioned by the spec; a line for each, and what was said of it

x [batch, 4, 8] goes through a product, then in each layer through a product to 16 features, the construct, and a product
back to 8. The loss is the mean of squares. What the constructs compare, count, gather and repeat is a constant's, an iota's
or a rank's own piece.
"""

import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Random"))
from network import Input, Network, Node, encode  # noqa: E402
from tensors import Array  # noqa: E402

S, H, F = 4, 8, 16  # positions, features of the stream, features between the products


class Builder:
    def __init__(self):
        self.network, self.random, self.count = Network(), random.Random(1), 0

    def emit(self, op, *inputs, outputs=1, **attributes):
        self.count += 1
        names = [f"{op}{self.count}" + (f"_{i}" if i else "") for i in range(outputs)]
        self.network.nodes.append(Node(op, list(inputs), names, attributes))
        return names[0] if outputs == 1 else names

    def constant(self, shape, data, kind="f"):
        self.count += 1
        name = f"constant{self.count}"
        self.network.constants[name] = Array(shape, data, kind)
        return name

    def integers(self, *data):
        return self.constant([len(data)], data, "i")

    def number(self, value, kind="f"):
        return self.constant([], [value], kind)

    def parameter(self, name, *shape):
        size = 1
        for each in shape:
            size *= each
        self.network.parameters[name] = Array(list(shape), [self.random.gauss(0, 0.5) for _ in range(size)])
        return name

    def reshape(self, x, *shape):
        return self.emit("Reshape", x, self.integers(*shape))

    def linear(self, x, name, rows, columns):
        y = self.emit("MatMul", x, self.parameter(f"{name}.weight", rows, columns))
        return self.emit("Add", y, self.parameter(f"{name}.bias", columns))

    def top(self, x, k, axis=-1):
        return self.emit("TopK", x, self.integers(k), outputs=2, axis=axis)


def maxout(b, layer, y):
    """The largest of each group, taken by its place, as max(dim) takes it."""
    groups = b.reshape(y, 0, 0, 4, 4)
    places = b.emit("ArgMax", groups, axis=3, keepdims=1)
    return b.reshape(b.emit("Expand", b.emit("GatherElements", groups, places, axis=3), b.integers(1, 1, 1, 4)), 0, 0, F)


def group_sort(b, layer, y):
    return b.reshape(b.top(b.reshape(y, 0, 0, 4, 4), 4)[0], 0, 0, F)


def top_of_groups(b, layer, y):
    """The two largest of each group, over groups that are cut, and back to their places."""
    groups = b.reshape(y, 0, 0, 8, 2)
    scores = b.emit("ReduceSum", groups, b.integers(3), keepdims=0)
    values, _ = b.top(scores, 4)
    return b.emit("Concat", *[values] * 4, axis=2)


def router(b, layer, y):
    """Top-k over all that tp cuts, straight from the product."""
    scores = b.emit("MatMul", y, b.parameter(f"{layer}.router", F, 8))
    values, places = b.top(scores, 4)
    chosen = b.emit("GatherElements", scores, places, axis=2)
    return b.emit("Concat", b.emit("Softmax", values, axis=2), chosen, values, chosen, axis=2)


def one_hot(b, layer, y):
    """Where the largest of a group is, as a mask over it."""
    groups = b.reshape(y, 0, 0, 4, 4)
    places = b.emit("ArgMax", groups, axis=3, keepdims=0)
    mask = b.emit("OneHot", places, b.number(4, "i"), b.constant([2], [0, 1]), axis=-1)
    return b.reshape(b.emit("Mul", mask, groups), 0, 0, F)


def argmax_of_all(b, layer, y):
    """The same over all features."""
    places = b.emit("ArgMax", y, axis=2, keepdims=0)
    mask = b.emit("OneHot", places, b.number(F, "i"), b.constant([2], [0, 1]), axis=-1)
    return b.emit("Mul", mask, y)


def running_sum(b, layer, y):
    return b.emit("CumSum", y, b.number(2, "i"))


def running_sum_of_groups(b, layer, y):
    return b.reshape(b.emit("CumSum", b.reshape(y, 0, 0, 4, 4), b.number(3, "i")), 0, 0, F)


def positions(b, layer, y):
    """Numbers of features and of positions, multiplied and compared with what is cut."""
    features = b.emit("Cast", b.emit("Range", b.number(0, "i"), b.number(F, "i"), b.number(1, "i")), to=1)
    rows = b.emit("Unsqueeze", b.emit("Range", b.number(0.0), b.number(float(S)), b.number(1.0)), b.integers(1))
    isAfter = b.emit("Less", rows, features)
    y = b.emit("Where", isAfter, y, b.emit("Mul", y, b.number(0.5)))
    return b.emit("Mul", y, b.emit("Mul", features, b.number(0.1)))


def chunks(b, layer, y):
    """The largest over chunks of the sequence, by its place."""
    pieces = b.reshape(y, 0, 2, 2, F)
    places = b.emit("ArgMax", pieces, axis=2, keepdims=1)
    largest = b.emit("GatherElements", pieces, places, axis=2)
    return b.reshape(b.emit("Expand", largest, b.integers(1, 1, 2, 1)), 0, S, F)


def dynamic_kernels(b, layer, y):
    """A kernel for each head and position, a softmax over its taps, as span-based convolutions have it."""
    kernels = b.emit("Softmax", b.reshape(b.linear(y, f"{layer}.k", F, 6), -1, 3, 1), axis=1)
    padded = b.emit("Pad", y, b.integers(0, 1, 0, 0, 1, 0))
    taps = [b.emit("Slice", padded, b.integers(i), b.integers(i + S), b.integers(1)) for i in range(3)]
    spans = b.reshape(b.emit("Concat", *[b.reshape(tap, 0, 0, F, 1) for tap in taps], axis=3), -1, F // 2, 3)
    return b.reshape(b.emit("MatMul", spans, kernels), -1, S, F)


def pointwise_query(b, layer, y):
    """A depthwise and a pointwise convolution's features times a query's."""
    z = b.emit("Transpose", y, perm=[0, 2, 1])
    z = b.emit("Conv", z, b.parameter(f"{layer}.depth.weight", F, 1, 3), group=F, pads=[1, 1])
    z = b.emit("Conv", z, b.parameter(f"{layer}.point.weight", F, F, 1))
    z = b.emit("Add", b.emit("Transpose", z, perm=[0, 2, 1]), b.parameter(f"{layer}.point.bias", F))
    return b.emit("Mul", z, b.linear(y, f"{layer}.q", F, F))


def hand_softmax(b, layer, y):
    """Attention whose softmax is written by hand, the largest taken by its place."""
    heads = [b.emit("Transpose", b.reshape(b.linear(y, f"{layer}.{name}", F, F), 0, 0, 4, 4), perm=[0, 2, 1, 3])
             for name in "qkv"]
    scores = b.emit("MatMul", heads[0], b.emit("Transpose", heads[1], perm=[0, 1, 3, 2]))
    largest = b.emit("GatherElements", scores, b.emit("ArgMax", scores, axis=3, keepdims=1), axis=3)
    terms = b.emit("Exp", b.emit("Sub", scores, largest))
    weights = b.emit("Div", terms, b.emit("ReduceSum", terms, b.integers(3)))
    return b.reshape(b.emit("Transpose", b.emit("MatMul", weights, heads[2]), perm=[0, 2, 1, 3]), 0, 0, F)


def hard_attention(b, layer, y):
    """Attention that reads one key, and passes the softmax's gradient."""
    heads = [b.emit("Transpose", b.reshape(b.linear(y, f"{layer}.{name}", F, F), 0, 0, 4, 4), perm=[0, 2, 1, 3])
             for name in "qkv"]
    scores = b.emit("Softmax", b.emit("MatMul", heads[0], b.emit("Transpose", heads[1], perm=[0, 1, 3, 2])), axis=3)
    hard = b.emit("OneHot", b.emit("ArgMax", scores, axis=3, keepdims=0), b.number(S, "i"), b.constant([2], [0, 1]), axis=-1)
    y = b.emit("MatMul", b.emit("Add", hard, scores), heads[2])
    return b.reshape(b.emit("Transpose", y, perm=[0, 2, 1, 3]), 0, 0, F)


def product_keys(b, layer, y):
    """Two halves of a query scored against keys, and the best sums of both."""
    tops = []
    for half in range(2):
        query = b.emit("Slice", y, b.integers(half * 8), b.integers(half * 8 + 8), b.integers(2))
        tops.append(b.top(b.emit("MatMul", query, b.parameter(f"{layer}.keys{half}", 8, 6)), 2)[0])
    sums = b.emit("Add", b.reshape(tops[0], 0, 0, 2, 1), b.reshape(tops[1], 0, 0, 1, 2))
    best = b.emit("Softmax", b.top(b.reshape(sums, 0, 0, 4), 2)[0], axis=2)
    return b.emit("Mul", y, b.emit("Concat", *[best] * 8, axis=2))


def counted_rows(b, layer, y):
    """A table's rows taken by numbers that the features are counted by, and summed over what tp cuts."""
    counts = b.emit("Cast", b.emit("Range", b.number(0, "i"), b.number(F, "i"), b.number(1, "i")), to=1)
    weighted = b.emit("ReduceSum", b.emit("Mul", y, b.emit("Mul", counts, b.number(0.1))), b.integers(2))
    return b.emit("Mul", y, weighted)


KINDS = {each.__name__.replace("_", "-"): each for each in (
    maxout, group_sort, top_of_groups, router, one_hot, argmax_of_all, running_sum, running_sum_of_groups, positions, chunks,
    dynamic_kernels, pointwise_query, hand_softmax, hard_attention, product_keys, counted_rows)}


def plain_stream(b, construct):
    b.network.inputs["x"] = Input([-1, S, H])
    x = b.linear("x", "embed", H, H)
    for i in range(2):
        y = b.linear(x, f"layers.{i}.up", H, F)
        x = b.emit("Add", x, b.linear(construct(b, f"layers.{i}", y), f"layers.{i}.down", F, H))
    return x


def encoder(b, x, attend):
    """Two layers of attention; `attend` makes of a layer's input and attention what is added to the stream."""
    for i in range(2):
        q, k, v = (b.emit("Transpose", b.reshape(b.linear(x, f"layers.{i}.{name}", H, H), 0, 0, 2, 4), perm=[0, 2, 1, 3])
                   for name in "qkv")
        scores = b.emit("Mul", b.emit("MatMul", q, b.emit("Transpose", k, perm=[0, 1, 3, 2])), b.number(0.5))
        y = b.emit("MatMul", b.emit("Softmax", scores, axis=3), v)
        y = b.reshape(b.emit("Transpose", y, perm=[0, 2, 1, 3]), 0, 0, H)
        x = b.emit("Add", x, attend(f"layers.{i}", y))
    return x


def token_types(b):
    """Token types are a constant, and cut along the sequence with the attention's queries; they are also averaged over it."""
    b.network.inputs["ids"] = Input([-1, S], "i", 10)
    x = b.emit("Gather", b.parameter("embed.words", 10, H), "ids")
    types = b.emit("Expand", b.constant([1, S], [1] * S, "i"), b.emit("Shape", "ids"))
    types = b.emit("Gather", b.parameter("embed.types", 2, H), types)
    places = b.emit("Gather", b.parameter("embed.places", S, H), b.constant([1, S], range(S), "i"))
    x = b.emit("Add", b.emit("Add", x, places), types)
    x = encoder(b, x, lambda layer, y: b.linear(y, f"{layer}.o", H, H))
    return b.emit("Add", x, b.emit("ReduceMean", types, b.integers(1)))


def pooled_stream(b):
    """The mean over the sequence of a product whose terms ranks have, repeated for every position of the stream."""
    b.network.inputs["x"] = Input([-1, S, H])

    def attend(layer, y):
        pooled = b.emit("ReduceMean", b.emit("MatMul", y, b.parameter(f"{layer}.o.weight", H, H)), b.integers(1))
        return b.emit("Expand", pooled, b.integers(1, S, 1))

    return encoder(b, b.linear("x", "embed", H, H), attend)


STREAMS = {each.__name__.replace("_", "-"): each for each in (token_types, pooled_stream)}


def make(kind):
    b = Builder()
    x = STREAMS[kind](b) if kind in STREAMS else plain_stream(b, KINDS[kind])
    b.network.loss = b.emit("ReduceMean", b.emit("Mul", x, x), b.integers(0, 1, 2), keepdims=0)
    return encode(b.network)


def verify(kind, spec):
    """What `xlc verify` says of the partitioned model that is not the same for all."""
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(make(kind))
        file.flush()
        said = subprocess.run(["xlc", "verify", file.name, "--spec", spec, "--stop-after=Shard"], check=False,
                              capture_output=True, text=True)
    lines = (said.stderr + said.stdout).splitlines()
    return "; ".join(line for line in lines if line == "all equal" or ": warning: " in line or ": error: " in line)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(*KINDS, *STREAMS)
    elif sys.argv[1] == "--spec":
        for name in [*KINDS, *STREAMS]:
            print(f"{name}: {verify(name, sys.argv[2])}")
    else:
        sys.stdout.buffer.write(make(sys.argv[1]))
