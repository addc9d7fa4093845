"""Grows a network node by node, and takes only nodes that keep it a model that can be judged.

Every value is computed for two batches as it is made, one of two samples and one of three that begin with the same two. A
node is rejected where a sample of its result depends on other samples (the loss would be another function of each
micro-batch), where numbers become large or stop being numbers, or where a derivative jumps nearby. The two sizes also say
which dimension of a value is the batch.
"""

import math

import reference
from indexing import slice_map, take
from network import Input, Network, Node
from tensors import Array, narrow

LARGEST = 8.0  # absolute value of an element
NEAREST = 2e-3  # to a kink
ELEMENTS = 160  # of a value, in a batch of three
ROWS = (2, 3)


class Reject(Exception):
    """This node is not taken; something else is tried."""


def concrete(dims, batch):
    return tuple(size if size > 0 else -size * batch for size in dims)


def symbolic(two, three):
    if len(two) != len(three):
        raise Reject("the rank depends on the batch")
    if any(a != b and 3 * a != 2 * b for a, b in zip(two, three)):
        raise Reject("a size that is no multiple of the batch")
    return [a if a == b else a - b for a, b in zip(two, three)]


class Builder:
    def __init__(self, random, tp=1):
        self.random, self.network = random, Network()
        self.tp = tp  # divides the heads of attention
        self.draws = False  # whether nodes may drop elements and make noise
        self.values = {}  # name: [of two samples, of three]
        self.count = 0

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    # What a network begins with.

    def input(self, dims, kind="f", limit=0):
        name = self.name({"f": "x", "i": "ids", "b": "mask"}[kind])
        self.network.inputs[name] = Input(list(dims), kind, limit)
        three = self.draw_rows(self.network.inputs[name], ROWS[1])
        self.values[name] = [take(three, slice_map(three.shape, (0,) * three.rank, (1,) * three.rank, concrete(dims, 2)),
                                  concrete(dims, 2)), three]
        return name

    def draw_rows(self, each, count):
        return draw_rows(self.random, each, count)

    def parameter(self, shape, deviation=None, mean=0.0, leaf="weight", module=None):
        name = f"{module or self.name('m')}.{leaf}"
        fan_in = shape[0] if len(shape) > 1 else 4
        deviation = deviation or 0.8 / math.sqrt(fan_in)
        data = [narrow(mean + deviation * self.random.gauss(0, 1)) for _ in range(math.prod(shape))]
        self.network.parameters[name] = Array(shape, data)
        self.values[name] = [self.network.parameters[name]] * 2
        return name

    def parameter_of(self, shape, data, leaf="weight"):
        """A parameter of given values."""
        name = self.parameter(shape, leaf=leaf)
        array = self.network.parameters[name] = Array(shape, data)
        self.values[name] = [array] * 2
        return name

    def constant(self, shape, data, kind="f"):
        name = self.name("k")
        self.network.constants[name] = Array(shape, data, kind)
        self.values[name] = [self.network.constants[name]] * 2
        return name

    def integers(self, *data):
        return self.constant([len(data)], data, "i")

    def number(self, value, kind="f"):
        return self.constant([], [narrow(value) if kind == "f" else value], kind)

    # What is known of a value.

    def dims(self, name):
        return symbolic(*(array.shape for array in self.values[name]))

    def kind(self, name):
        return self.values[name][0].kind

    def rank(self, name):
        return self.values[name][0].rank

    def batch_axis(self, name):
        """The dimension that is the batch, or None."""
        return next((i for i, size in enumerate(self.dims(name)) if size < 0), None)

    def free_axes(self, name):
        """Dimensions that are not the batch."""
        return [i for i, size in enumerate(self.dims(name)) if size > 0]

    def bounds(self, name):
        data = [value for array in self.values[name] for value in array.data]
        return min(data), max(data)

    # Nodes.

    def emit(self, op, *inputs, outputs=1, **attributes):
        """Appends a node; returns its result's name, or several."""
        names = [self.name(op.lower()) for _ in range(outputs)]
        node = Node(op, list(inputs), names, attributes)
        results = [self.compute(node, which) for which in (0, 1)]
        for two, three in zip(*results):
            check_value(two, three)
        if any(reference.margin_of(node, self.given(which)) < NEAREST for which in (0, 1)):
            raise Reject("near a kink")
        for name, two, three in zip(names, *results):
            self.values[name] = [two, three]
        self.network.nodes.append(node)
        return names[0] if outputs == 1 else names

    def given(self, which):
        return {name: arrays[which] for name, arrays in self.values.items()}

    def compute(self, node, which):
        try:
            return reference.forward_node(node, {name: self.values[name][which] for name in node.inputs if name})
        except (ValueError, IndexError, OverflowError, ZeroDivisionError, KeyError, AssertionError) as problem:
            raise Reject(str(problem)) from problem

    def mark(self):
        return len(self.network.nodes), dict(self.network.parameters), dict(self.network.constants), dict(self.network.inputs)

    def undo(self, mark):
        """Back to the state of `mark`."""
        count, self.network.parameters, self.network.constants, self.network.inputs = mark
        del self.network.nodes[count:]
        known = set(self.network.parameters) | set(self.network.constants) | set(self.network.inputs)
        known.update(name for node in self.network.nodes for name in node.outputs)
        self.values = {name: arrays for name, arrays in self.values.items() if name in known}


def check_value(two, three):
    """Rejects what is too large, and what mixes samples."""
    if len(three.data) > ELEMENTS or not three.data:
        raise Reject("too many elements, or none")
    if three.kind == "f" and not all(abs(value) <= LARGEST or is_masked(value) for value in three.data):
        raise Reject("numbers grow large")
    dims = symbolic(two.shape, three.shape)
    if sum(size < 0 for size in dims) > 1:
        raise Reject("the batch against itself")
    first = take(three, slice_map(three.shape, (0,) * three.rank, (1,) * three.rank, two.shape), two.shape)
    if any(a != b and not (math.isnan(a) and math.isnan(b)) for a, b in zip(first.data, two.data)):
        raise Reject("samples meet")


def is_masked(value):
    """What a mask leaves: -inf in scores, and not a number in a row that sees nothing. A move replaces it before it returns."""
    return value == -math.inf or math.isnan(value)


def draw_rows(random, each, count):
    """Random rows of an input."""
    shape = concrete(each.dims, count)
    size = math.prod(shape)
    if each.kind == "i":
        return Array(shape, [random.randrange(each.limit) for _ in range(size)], "i")
    if each.kind == "b":
        return Array(shape, [random.randrange(2) for _ in range(size)], "b")
    return Array(shape, [narrow(random.gauss(0, 1)) for _ in range(size)])
