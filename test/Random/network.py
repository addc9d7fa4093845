"""A small model: inputs, parameters, constants, nodes that are ONNX operators, and what is minimised. Written as an ONNX file.

Sizes of dimensions are integers; the batch is -1, and k rows of each sample -k. A value has at most one such dimension.
"""

import collections
import dataclasses
import json

import places  # noqa: F401  (makes the encoder importable)
from model import ELEMENT_TYPES, node, number, tensor, text
from tensors import Array

OPSET = 21


@dataclasses.dataclass
class Node:
    op: str
    inputs: list  # names; "" where one is left out
    outputs: list
    attributes: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Input:
    dims: list
    kind: str = "f"
    limit: int = 0  # integers lie in [0, limit)


@dataclasses.dataclass
class Network:
    inputs: dict = dataclasses.field(default_factory=dict)
    parameters: dict = dataclasses.field(default_factory=dict)  # name: Array
    constants: dict = dataclasses.field(default_factory=dict)  # name: Array
    nodes: list = dataclasses.field(default_factory=list)
    loss: str = ""  # a scalar, unless `labels` names the input that a cross_entropy of the spec compares it with
    labels: str = ""
    is_recorded: bool = True  # whether the file says what its parameters are, as xlc_export writes it down

    def copy(self):
        return from_json(to_json(self))

    def used_nodes(self):
        """The nodes that the loss depends on, in order."""
        needed, kept = {self.loss}, []
        for each in reversed(self.nodes):
            if needed & set(each.outputs):
                kept.append(each)
                needed |= set(each.inputs)
        return kept[::-1], needed

    def prune(self):
        """Leaves out what the loss does not depend on."""
        self.nodes, needed = self.used_nodes()
        needed.add(self.labels)
        for table in (self.inputs, self.parameters, self.constants):
            for name in [name for name in table if name not in needed]:
                del table[name]


def encode_input(name, each):
    dims = b"".join(text(1, number(1, size) if size > 0 else text(2, "batch")) for size in each.dims)
    kinds = number(1, ELEMENT_TYPES[each.kind]) + text(2, dims)
    return text(11, text(1, name) + text(2, text(1, kinds)))


def encode(network):
    """The bytes of an ONNX file. Constants are nodes, so that every initializer is a parameter."""
    nodes = [node("Constant", [], [name], {"value": array}, name) for name, array in network.constants.items()]
    nodes += [node(each.op, each.inputs, each.outputs, each.attributes, each.outputs[0]) for each in network.nodes]
    graph = b"".join(nodes) + text(2, "random")
    graph += b"".join(text(5, tensor(array, name)) for name, array in network.parameters.items())
    graph += b"".join(encode_input(name, each) for name, each in network.inputs.items() if name != network.labels)
    graph += text(12, text(1, network.loss) + text(2, text(1, number(1, 1))))
    record = text(14, text(1, "xlc.export") + text(2, make_record(network))) if network.is_recorded else b""
    return number(1, 8) + text(7, graph) + text(8, text(1, "") + number(2, OPSET)) + record


def make_record(network):
    """Of docs/Export.md."""
    read = collections.Counter(name for node in network.nodes for name in node.inputs)
    parameters = [{"name": name, "shape": list(array.shape), "dtype": "float32", "requires_grad": True, "reads": read[name]}
                  for name, array in network.parameters.items()]
    return json.dumps({"version": 1, "torch": "2.15.0", "exporter": "dynamo", "training": False, "parameters": parameters,
                       "buffers": [], "dropout": []})


def to_json(network):
    def arrays(table):
        return {name: [array.kind, list(array.shape), array.data] for name, array in table.items()}
    return json.dumps({
        "inputs": {name: dataclasses.asdict(each) for name, each in network.inputs.items()},
        "parameters": arrays(network.parameters), "constants": arrays(network.constants),
        "nodes": [[each.op, each.inputs, each.outputs, each.attributes] for each in network.nodes],
        "loss": network.loss, "labels": network.labels, "is_recorded": network.is_recorded})


def from_json(written):
    tree = json.loads(written)

    def arrays(table):
        return {name: Array(shape, data, kind) for name, (kind, shape, data) in table.items()}
    return Network({name: Input(**each) for name, each in tree["inputs"].items()}, arrays(tree["parameters"]),
                   arrays(tree["constants"]), [Node(*each) for each in tree["nodes"]], tree["loss"], tree["labels"],
                   tree["is_recorded"])


def describe(network):
    """One line per value, for people."""
    for name, each in network.inputs.items():
        yield f"{name}: input {each.dims} {each.kind}"
    for name, array in network.parameters.items():
        yield f"{name}: parameter {list(array.shape)}"
    for name, array in network.constants.items():
        yield f"{name}: constant {list(array.shape)} {array.data if len(array.data) < 9 else '...'}"
    for each in network.nodes:
        yield f"{', '.join(each.outputs)} = {each.op}({', '.join(each.inputs)}) {each.attributes or ''}".rstrip()
    yield f"loss: {network.loss}" + (f" against {network.labels}" if network.labels else "")
