"""Writes a model down in another way that means the same, so that a test can ask whether it is still recognised.

    respell.py MODEL OUT mask=-1e9 keys-scaled swapped identities gathered=2x2

mask=VALUE    the lowest float in masks becomes VALUE
keys-scaled   the scale of the scores stands on the keys alone
swapped       both products of attention multiply their factors' transposes in the other order
identities    Identity and Cast to the same type before both products and the softmax
gathered=GxN  keys and values of G groups are repeated N times by Gather, not Unsqueeze, Expand, Reshape

Works on protobuf's wire format, node by node, and needs nothing beside Python.
"""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Fuzz"))
import wire

INPUT, OUTPUT, NAME, OP, ATTRIBUTE = 1, 2, 3, 4, 5  # fields of a node
LOWEST = struct.pack("<I", 0xFF7FFFFF)


def text(number, value):
    return wire.Field(number, wire.BYTES, value.encode())


def texts(node, number):
    return [field.value.decode() for field in node.value if field.number == number]


def attribute(name, kind, number, value):
    """Kinds are AttributeProto's: 2 an integer, 7 integers; `number` is the field that holds them."""
    values = [wire.Field(number, wire.VARINT, entry) for entry in value]
    return wire.Field(ATTRIBUTE, wire.BYTES, [text(1, name), *values, wire.Field(20, wire.VARINT, kind)], "Attribute")


def integer_tensor(name, values):
    raw = b"".join(struct.pack("<q", value) for value in values)
    fields = [wire.Field(1, wire.VARINT, len(values)), wire.Field(2, wire.VARINT, 7), text(8, name),
              wire.Field(9, wire.BYTES, raw)]
    return wire.Field(5, wire.BYTES, fields, "Tensor")


class Model:
    """The graph of a model; its nodes are edited in place."""

    def __init__(self, data):
        self.model = wire.parse(data)
        self.graph = next(field for field in self.model if field.number == 7)
        self.nodes = [field for field in self.graph.value if field.number == 1]
        self.count = 0

    def data(self):
        others = [field for field in self.graph.value if field.number != 1]
        self.graph.value = self.nodes + others
        return wire.serialize(self.model)

    def op(self, node):
        return texts(node, OP)[0] if node else None

    def producer(self, value):
        return next((node for node in self.nodes if value in texts(node, OUTPUT)), None)

    def set_input(self, node, index, value):
        places = [field for field in node.value if field.number == INPUT]
        places[index].value = value.encode()

    def fresh(self):
        self.count += 1
        return f"respelled_{self.count}"

    def insert(self, before, op, inputs, *attributes, output=None):
        """A new node in front of `before`; returns its output."""
        output = output or self.fresh()
        fields = [*(text(INPUT, name) for name in inputs), text(OUTPUT, output), text(NAME, self.fresh()), text(OP, op)]
        self.nodes.insert(self.nodes.index(before), wire.Field(1, wire.BYTES, [*fields, *attributes], "Node"))
        return output

    def attentions(self):
        """(scores product, softmax, second product) of each softmax between two products."""
        found = []
        for softmax in [node for node in self.nodes if self.op(node) == "Softmax"]:
            scores, second = softmax, softmax
            while self.op(scores) != "MatMul":
                sources = [self.producer(name) for name in texts(scores, INPUT)]
                scores = next((node for node in sources if self.op(node) in ("MatMul", "Add", "Div", "Cast", "Where")
                               and self.leads_to_product(node)), None)
                if scores is None:
                    break
            while second is not None and self.op(second) != "MatMul":
                output = texts(second, OUTPUT)[0]
                users = [node for node in self.nodes if output in texts(node, INPUT)]
                second = next((node for node in users if self.op(node) != "IsNaN"), None)
            if scores and second:
                found.append((scores, softmax, second))
        return found

    def leads_to_product(self, node):
        return self.op(node) == "MatMul" or any(
            self.op(self.producer(name)) in ("MatMul", "Add", "Div", "Cast") and
            self.leads_to_product(self.producer(name)) for name in texts(node, INPUT))


def set_mask(model, value):
    for fields, index in list(wire.walk(model.graph.value)):
        field = fields[index]
        is_data = not field.message and field.wire == wire.BYTES and field.number == 9
        if is_data and field.value == LOWEST:
            field.value = struct.pack("<f", float(value))


def scale_keys(model):
    for product, _, _ in model.attentions():
        queries, keys = (model.producer(name) for name in texts(product, INPUT))
        if model.op(queries) == "Mul" and model.op(keys) == "Mul":  # both by the root of the scale
            data, root = texts(queries, INPUT)
            model.set_input(product, 0, data)
            model.set_input(product, 1, model.insert(product, "Mul", [root, texts(product, INPUT)[1]]))
            continue
        divide = next(node for node in model.nodes if texts(product, OUTPUT)[0] in texts(node, INPUT))
        whole, divisor = texts(divide, INPUT)
        assert model.op(divide) == "Div", "the scale stands on both factors or divides the scores"
        for node in model.nodes:
            for index, name in enumerate(texts(node, INPUT)):
                if name == texts(divide, OUTPUT)[0]:
                    model.set_input(node, index, whole)
        model.nodes.remove(divide)
        model.nodes.insert(model.nodes.index(product), divide)
        model.set_input(divide, 0, texts(product, INPUT)[1])
        model.set_input(product, 1, texts(divide, OUTPUT)[0])
        provider = model.producer(divisor)
        model.nodes.remove(provider)
        model.nodes.insert(model.nodes.index(divide), provider)


def swap_transposes(model):
    permutation = attribute("perm", 7, 8, [0, 1, 3, 2])
    for scores, _, second in model.attentions():
        for product in (scores, second):
            a, b = (model.insert(product, "Transpose", [name], permutation) for name in texts(product, INPUT))
            swapped = model.insert(product, "MatMul", [b, a])
            model.insert(product, "Transpose", [swapped], permutation, output=texts(product, OUTPUT)[0])
            model.nodes.remove(product)


def add_identities(model):
    cast = attribute("to", 2, 3, [1])
    for nodes in model.attentions():
        for node in nodes:
            for index, name in enumerate(texts(node, INPUT)):
                same = model.insert(node, "Identity", [name])
                model.set_input(node, index, model.insert(node, "Cast", [same], cast))


def gather_keys(model, shape):
    groups, times = map(int, shape.split("x"))
    indices = model.fresh()
    model.graph.value.append(integer_tensor(indices, [group for group in range(groups) for _ in range(times)]))
    for reshape in [node for node in model.nodes if model.op(node) == "Reshape"]:
        expand = model.producer(texts(reshape, INPUT)[0])
        unsqueeze = model.producer(texts(expand, INPUT)[0]) if model.op(expand) == "Expand" else None
        if model.op(unsqueeze) == "Unsqueeze" and expand is not None:
            model.insert(reshape, "Gather", [texts(unsqueeze, INPUT)[0], indices], attribute("axis", 2, 3, [1]),
                         output=texts(reshape, OUTPUT)[0])
            model.nodes.remove(reshape)


CHANGES = {"mask": set_mask, "keys-scaled": scale_keys, "swapped": swap_transposes, "identities": add_identities,
           "gathered": gather_keys}


def main():
    source, target, *changes = sys.argv[1:]
    model = Model(pathlib.Path(source).read_bytes())
    for change in changes:
        name, *value = change.split("=")
        CHANGES[name](model, *value)
    pathlib.Path(target).write_bytes(model.data())


if __name__ == "__main__":
    main()
