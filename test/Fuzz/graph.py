"""Mutants of models that are still graphs: every value is defined, before it is used, once.

Each change is one that an exporter, an optimiser or a careless script could have made: another operator of the same kind, an
operand from elsewhere, a node more or less, another shape, another attribute, a sequence, a branch or a function around a
node. Most such files are read to the end; many are wrong only in a shape, deep inside; some train.
"""

import struct

import wire

NODE, TENSOR, INPUT, ENTRY = 1, 5, 11, 16
UNARY = ["Abs", "Cos", "Erf", "Exp", "Identity", "IsNaN", "Log", "Neg", "Not", "Reciprocal", "Relu", "Sigmoid", "Sign", "Sin",
         "Softmax", "Softplus", "Sqrt", "Tanh", "Shape", "Size", "LogSoftmax", "Flatten", "Transpose", "Floor", "Ceil",
         "GlobalAveragePool", "Squeeze"]
BINARY = ["Add", "And", "Div", "Equal", "Greater", "Less", "MatMul", "Max", "Min", "Mod", "Mul", "Or", "Pow", "Sub", "Xor",
          "Gather", "Reshape", "Expand", "Tile", "Concat", "Where", "CastLike", "ReduceSum", "Unsqueeze", "Gemm"]
SIZES = [0, 1, 2, 3, 5, 16, 64, 100, 1 << 20, 1 << 31, 1 << 40, (1 << 63) - 1]
INTEGERS = [-(1 << 63), -2, -1, 0, 1, 2, 3, 7, 64, 1 << 31, (1 << 63) - 1]


def text(number, value):
    return wire.Field(number, wire.BYTES, value if isinstance(value, bytes) else value.encode())


def integer(number, value):
    return wire.Field(number, wire.VARINT, value & ((1 << 64) - 1))


def message(number, kind, fields):
    return wire.Field(number, wire.BYTES, fields, kind)


def make_node(op, inputs, outputs, attributes=()):
    return message(NODE, "Node", [text(1, name) for name in inputs] + [text(2, name) for name in outputs] +
                   [text(4, op), *attributes])


def graph_attribute(name, fields):
    return message(5, "Attribute", [text(1, name), message(6, "Graph", fields), integer(20, 5)])


class Graph:
    """The graph of a model, and what is often asked of it."""

    def __init__(self, random, fields):
        self.random, self.model = random, fields
        self.fields = next(field.value for field in fields if field.message == "Graph")

    def of(self, number):
        return [field for field in self.fields if field.number == number]

    def node(self):
        return self.random.choice(self.of(NODE))

    def place(self, node):
        return next(at for at, field in enumerate(self.fields) if field is node)

    def fresh(self):
        return f"fuzz{self.random.randrange(1 << 40)}"

    def values_before(self, node):
        """Names that `node` could read."""
        names = [part.value for tensor in self.of(TENSOR) for part in tensor.value if part.number == 8]
        names += [part.value for value in self.of(INPUT) for part in value.value if part.number == 1]
        for other in self.of(NODE):
            if other is node:
                break
            names += names_of(other, 2)
        return names

    def constant(self, values, is_scalar=False):
        """Adds an initializer of int64 and returns its name."""
        name = self.fresh()
        dims = [] if is_scalar else [integer(1, len(values))]
        self.fields.append(message(TENSOR, "Tensor", dims + [integer(2, 7), text(8, name),
                                                             text(9, b"".join(struct.pack("<q", v) for v in values))]))
        return name


def names_of(node, number):
    return [part.value for part in node.value if part.number == number]


def op_of(node):
    return next((part for part in node.value if part.number == 4), None)


def change_operator(graph):
    node = graph.node()
    op = op_of(node)
    kind = UNARY if len(names_of(node, 1)) == 1 else BINARY
    if op:
        op.value = graph.random.choice(kind).encode()


def change_operand(graph):
    node = graph.node()
    inputs = [part for part in node.value if part.number == 1]
    if inputs:
        graph.random.choice(inputs).value = graph.random.choice(graph.values_before(node))


def swap_operands(graph):
    inputs = [part for part in graph.node().value if part.number == 1]
    if len(inputs) > 1:
        one, other = graph.random.sample(inputs, 2)
        one.value, other.value = other.value, one.value


def insert_node(graph, make=None):
    """Puts something between a node and one of its operands; `make` returns the nodes for (operand, result)."""
    node = graph.node()
    inputs = [part for part in node.value if part.number == 1 and part.value]
    if not inputs:
        return
    part, result = graph.random.choice(inputs), graph.fresh()
    nodes = make(part.value, result) if make else [make_node(graph.random.choice(UNARY), [part.value], [result])]
    part.value = result.encode()
    at = graph.place(node)
    graph.fields[at:at] = nodes


def insert_identity(graph):
    insert_node(graph, lambda x, y: [make_node("Identity", [x], [y])])


def insert_sequence(graph):
    sequence, zero = graph.fresh(), graph.constant([graph.random.choice((0, 0, 0, -1, 1))], is_scalar=True)
    insert_node(graph, lambda x, y: [make_node("SequenceConstruct", [x], [sequence]),
                                     make_node("SequenceAt", [sequence, zero], [y])])


def insert_split(graph):
    sequence, zero = graph.fresh(), graph.constant([0], is_scalar=True)
    axis = message(5, "Attribute", [text(1, "axis"), integer(3, graph.random.choice((0, 1, -1, 9))), integer(20, 2)])
    length = graph.constant([graph.random.choice(SIZES)], is_scalar=True)
    insert_node(graph, lambda x, y: [make_node("SplitToSequence", [x, length], [sequence], [axis]),
                                     make_node("SequenceAt", [sequence, zero], [y])])


def insert_branch(graph):
    """An If whose condition is known; both branches hand on or negate."""
    condition, one = graph.fresh(), graph.constant([graph.random.choice((0, 1))], is_scalar=True)

    def make(operand, result):
        branches = []
        for name, op in (("then_branch", "Identity"), ("else_branch", graph.random.choice(UNARY))):
            inner = graph.fresh()
            branches.append(graph_attribute(name, [make_node(op, [operand], [inner]),
                                                   message(12, "Value", [text(1, inner)])]))
        return [make_node("Equal", [one, one], [condition]), make_node("If", [condition], [result], branches)]
    insert_node(graph, make)


def call_function(graph):
    """A node becomes the call of a function that holds it."""
    node, name = graph.node(), graph.fresh()
    if any(part.message == "Attribute" for part in node.value) or not all(names_of(node, 1)):
        return
    body = node.copy()
    domain = "fuzz" if graph.random.random() < 0.9 else ""
    inputs = list(dict.fromkeys(names_of(node, 1)))
    graph.model.append(message(25, "Function", [text(1, name), *[text(4, each) for each in inputs],
                                                *[text(5, each) for each in names_of(node, 2)], body, text(10, domain)]))
    body.number = 7
    call = make_node(name, inputs, names_of(node, 2))
    call.value.append(text(7, domain))
    graph.fields[graph.place(node)] = call


def remove_node(graph):
    """What read the node's first result reads its first operand."""
    node = graph.node()
    inputs, outputs = names_of(node, 1), names_of(node, 2)
    if not inputs or not outputs:
        return
    del graph.fields[graph.place(node)]
    for other in graph.of(NODE):
        for part in other.value:
            if part.number == 1 and part.value == outputs[0]:
                part.value = inputs[0]


def repeat_node(graph):
    node = graph.node()
    copy = node.copy()
    for part in copy.value:
        if part.number == 2:
            part.value = graph.fresh().encode()
    graph.fields.insert(graph.place(node) + 1, copy)


def change_attribute(graph):
    attributes = [part for node in graph.of(NODE) for part in node.value if part.message == "Attribute"]
    if not attributes:
        return
    numbers = [part for part in graph.random.choice(attributes).value if part.number in (3, 8) and part.wire == wire.VARINT]
    if numbers:
        graph.random.choice(numbers).value = graph.random.choice(INTEGERS) & ((1 << 64) - 1)


def change_values(graph):
    """Other numbers in an initializer, as many as before: shape arithmetic goes wrong, weights do not mind."""
    raw = [part for tensor in graph.of(TENSOR) for part in tensor.value if part.number == 9 and len(part.value) >= 4]
    if not raw:
        return
    part = graph.random.choice(raw)
    width = 8 if len(part.value) % 8 == 0 else 4
    at = graph.random.randrange(len(part.value) // width) * width
    value = struct.pack("<q", graph.random.choice(INTEGERS))[:width]
    part.value = part.value[:at] + value + part.value[at + width:]


def change_shape(graph):
    """An initializer with other dimensions and as many bytes as they need, where these are few."""
    tensor = graph.random.choice(graph.of(TENSOR))
    dims = [part for part in tensor.value if part.number == 1]
    raw = next((part for part in tensor.value if part.number == 9), None)
    if not dims or not raw:
        return
    old = new = 1
    for part in dims:
        old *= part.value
    graph.random.choice(dims).value = graph.random.choice(SIZES)
    for part in dims:
        new *= part.value
    if old and new < 1 << 20:
        need = len(raw.value) // old * new
        raw.value = (raw.value * (need // max(1, len(raw.value)) + 1))[:need]


def change_input(graph):
    dims = [part for value in graph.of(INPUT) for field in wire.walk(value.value)
            for part in [field[0][field[1]]] if part.message == "Dimension"]
    if dims:
        graph.random.choice(dims).value = [integer(1, graph.random.choice(SIZES))]


def drop_metadata(graph):
    graph.fields[:] = [field for field in graph.fields if field.number != ENTRY]


def change_signature(graph):
    for entry in graph.of(ENTRY):
        for part in entry.value:
            if part.number == 2 and b"target=" in part.value:
                lines = part.value.split(b"\n")
                one, other = graph.random.randrange(len(lines)), graph.random.randrange(len(lines))
                lines[one] = graph.random.choice((lines[other], b"", lines[one].replace(b"PARAMETER", b"BUFFER")))
                part.value = b"\n".join(lines)


CHANGES = [change_operator, change_operator, change_operand, swap_operands, insert_node, insert_identity, insert_sequence,
           insert_split, insert_branch, call_function, remove_node, repeat_node, repeat_node, change_attribute, change_values,
           change_values, change_shape, change_input, drop_metadata, change_signature]


def mutate_graph(random, data):
    """One to three changes."""
    fields = wire.parse(data)
    graph = Graph(random, fields)
    for _ in range(random.choice((1, 1, 2, 3))):
        random.choice(CHANGES)(graph)
    return wire.serialize(fields)
