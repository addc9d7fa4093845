"""A stand-in for torch.onnx.export: what its files say of a model, and what they lose.

    xlc          the nodes as they are, and our record beside them (network.py)
    unoptimized  optimize=False: a call beside each node; a detach is an Identity
    default      the Identities are gone, equal nodes are one, what depends on no input is computed, what nothing reads is left out
    old          dynamo=False: no calls; parameters that begin equal are one, and what is made of them alone is computed

Nothing in a file of the old exporter tells that there was a detach, or that a tensor was a buffer: it writes neither here.

The reference trains the network as it was before. A file that lost something must be refused, or the loss said in a warning: what the
program trains then may be something else.
"""

import re
from dataclasses import dataclass, field

import reference
from elementwise import STOP
from model import node, number, tensor, text
from network import OPSET, encode_input

FORMS = ["xlc", "unoptimized", "default", "old"]


def can_write(network, form):
    return form != "old" or not any(STOP in each.attributes for each in network.nodes)


# Operators whose call in PyTorch has another name.
TARGETS = {
    "Add": "add.Tensor", "Sub": "sub.Tensor", "Mul": "mul.Tensor", "Div": "div.Tensor", "Pow": "pow.Tensor_Tensor",
    "MatMul": "matmul.default", "Transpose": "permute.default", "Reshape": "view.default", "Where": "where.self", "Cast": "_to_copy.default",
    "ReduceSum": "sum.dim_IntList", "ReduceMean": "mean.dim", "ReduceMax": "amax.default", "ReduceMin": "amin.default",
    "Concat": "cat.default", "Slice": "slice.Tensor", "Softmax": "softmax.int", "LogSoftmax": "log_softmax.int", "Gather": "index.Tensor",
    "Unsqueeze": "unsqueeze.default", "Squeeze": "squeeze.dim", "ArgMax": "argmax.default",
}
OLD_FOLDS = ("Transpose", "Unsqueeze", "Squeeze", "Reshape", "Slice", "Concat", "Neg", "Sqrt", "Add", "Sub", "Mul", "Div")


@dataclass
class Exported:
    """A node of the file. `call`: that of PyTorch, as the new exporter notes it."""
    op: str
    inputs: list
    outputs: list
    attributes: dict
    call: str = ""

    @property
    def identity(self):
        """What nodes that compute the same have in common."""
        return self.op, tuple(self.inputs), repr(sorted(self.attributes.items())), len(self.outputs)


@dataclass
class File:
    nodes: list = field(default_factory=list)
    initializers: dict = field(default_factory=dict)  # name: Array
    parameters: list = field(default_factory=list)  # (name, whether it is a buffer): of the signature
    results: dict = field(default_factory=dict)  # a value of the network: its name here


def call_values(network):
    """What PyTorch calls each value: "add_12" for "add12"."""
    names = {name: re.sub(r"(\d+)$", r"_\1", name) for each in network.nodes for name in each.outputs}
    return names | {each.outputs[0]: names[each.outputs[0]].replace("identity", "detach") for each in network.nodes if STOP in each.attributes}


def placeholder(name, is_buffer=False):
    return ("b_" if is_buffer else "p_") + re.sub(r"\W", "_", name)


def is_literal(array):
    """Constants that Python code writes down: numbers, and lists of integers."""
    return array.rank == 0 or array.kind == "i" and array.rank == 1


def literal(array):
    if array.kind == "b":
        return str(bool(array.data[0]))
    return str(array.data[0]) if array.rank == 0 else f"[{', '.join(str(value) for value in array.data)}]"


def write_call(network, each, names):
    """The line that the new exporter notes beside a node."""
    arguments = []
    for name in each.inputs:
        if name in network.constants and is_literal(network.constants[name]):
            arguments.append(literal(network.constants[name]))
        elif name in network.constants or name in network.parameters:
            arguments.append("%" + placeholder(name, name in network.constants))
        elif name:
            arguments.append("%" + names.get(name, name))
    if each.op == "Concat":
        arguments = ["[" + ", ".join(arguments) + "]"]
    arguments += [str(value) for value in each.attributes.values() if isinstance(value, (int, list)) and not isinstance(value, bool)]
    stops = STOP in each.attributes
    target = "detach.default" if stops else TARGETS.get(each.op, each.op.lower() + ".default")
    return (f"%{names[each.outputs[0]]} : [num_users=1] = call_function[target=torch.ops.aten.{target}]"
            f"(args = ({', '.join(arguments)},), kwargs = {{}})")


def write_calls(network, has_buffers=True):
    """optimize=False. With `has_buffers` constants are buffers, but numbers and lists."""
    file = File(initializers=dict(network.parameters), parameters=[(name, False) for name in network.parameters])
    for name, array in network.constants.items():
        if is_literal(array) or not has_buffers:
            file.nodes.append(Exported("Constant", [], [name], {"value": array}))
        else:
            file.initializers[name] = array
            file.parameters.append((name, True))
    names = call_values(network)
    for each in network.nodes:
        attributes = {key: value for key, value in each.attributes.items() if key != STOP}
        file.nodes.append(Exported(each.op, [names.get(name, name) for name in each.inputs], [names[name] for name in each.outputs],
                                   attributes, write_call(network, each, names)))
    file.results = {network.loss: names.get(network.loss, network.loss)}
    return file


def without_identities(file):
    """Readers take what an Identity copies."""
    instead, kept = {}, []
    for each in file.nodes:
        each.inputs = [instead.get(name, name) for name in each.inputs]
        if each.op == "Identity":
            instead[each.outputs[0]] = each.inputs[0]
        else:
            kept.append(each)
    file.nodes = kept
    file.results = {name: instead.get(value, value) for name, value in file.results.items()}


def fold(file, ops=None):
    """Computes what depends on initializers and constants alone; all operators do, or `ops`."""
    known, kept = dict(file.initializers), []
    for each in file.nodes:
        if each.op == "Constant":
            known[each.outputs[0]] = each.attributes["value"]
        elif all(name in known or not name for name in each.inputs) and (ops is None or each.op in ops):
            for output, array in zip(each.outputs, reference.forward_node(each, known)):
                known[output] = file.initializers[output] = array
            continue
        kept.append(each)
    file.nodes = kept


def merge_equal(file):
    """Nodes that compute the same are the first of them."""
    instead, first, kept = {}, {}, []
    for each in file.nodes:
        each.inputs = [instead.get(name, name) for name in each.inputs]
        same = first.setdefault(each.identity, each)
        if same is each or each.op == "Constant":
            kept.append(each)
        else:
            instead |= zip(each.outputs, same.outputs)
    file.nodes = kept
    file.results = {name: instead.get(value, value) for name, value in file.results.items()}


def merge_parameters(file):
    """A tensor for all that have its values; each further name is an Identity."""
    names, first, copies = list(file.initializers), {}, []
    for name in names:
        array = file.initializers[name]
        same = first.setdefault((tuple(array.shape), array.kind, tuple(array.data)), name)
        if same != name:
            copies.append(Exported("Identity", [same], [name], {}))
            del file.initializers[name]
    file.nodes = copies + file.nodes


def prune(file):
    needed, kept = set(file.results.values()), []
    for each in reversed(file.nodes):
        if needed & set(each.outputs):
            kept.append(each)
            needed |= set(each.inputs)
    file.nodes = kept[::-1]
    file.initializers = {name: array for name, array in file.initializers.items() if name in needed}


def rename_as_old(file, own):
    """Values are called by the operator that makes them ("/Mul_3_output_0"), computed tensors by the one that reads them ("onnx::Mul_4")."""
    names = {}
    for number_of, each in enumerate(file.nodes):
        names |= {name: f"onnx::{each.op}_{100 * number_of + i}" for i, name in enumerate(each.inputs)
                  if name in file.initializers and name not in own and name not in names}
        each.inputs = [names.get(name, name) for name in each.inputs]
        if each.op != "Identity":
            names |= {name: f"/{each.op}_{number_of}_output_{i}" for i, name in enumerate(each.outputs)}
            each.outputs = [names[name] for name in each.outputs]
    file.initializers = {names.get(name, name): array for name, array in file.initializers.items()}
    file.results = {name: names.get(value, value) for name, value in file.results.items()}


def share_inputs(network):
    """Two inputs that were one tensor at export: the file reads the second's rows as the first's. None where no two can be one."""
    inputs = [name for name in network.inputs if name != network.labels]
    for i, one in enumerate(inputs):
        for other in inputs[i + 1:]:
            if network.inputs[one] == network.inputs[other]:
                return one, other
    return None


def export(network, form, shared=None):
    """The File that `form` makes. `shared`: see share_inputs."""
    file = write_calls(network, has_buffers=form != "old")
    if shared:
        for each in file.nodes:
            each.inputs = [shared[1] if name == shared[0] else name for name in each.inputs]
            each.call = re.sub(rf"%{shared[0]}\b", "%" + shared[1], each.call)
    if form == "default":
        without_identities(file)
        fold(file)
        merge_equal(file)
        prune(file)
    if form == "old":
        without_identities(file)
        fold(file, OLD_FOLDS)
        merge_parameters(file)
        for each in file.nodes:
            each.call = ""
        prune(file)
        rename_as_old(file, network.parameters)
    return file


def name_output(file, name):
    """As output_names asks."""
    old = file.results[name]
    for each in file.nodes:
        each.inputs = [name if value == old else value for value in each.inputs]
        each.outputs = [name if value == old else value for value in each.outputs]


def write_node(each):
    call = {"pkg.torch.onnx.fx_node": each.call, "pkg.torch.onnx.name_scopes": f"['', '{each.outputs[0]}']"} if each.call else {}
    name = each.outputs[0].removesuffix("_output_0") if each.outputs[0].startswith("/") else "node_" + each.outputs[0]
    return node(each.op, each.inputs, each.outputs, each.attributes | call, name)


def write_signature(file, network):
    lines = [f"{placeholder(name, is_buffer)}: {'BUFFER' if is_buffer else 'PARAMETER'} target='{name}'"
             + (" persistent=True" if is_buffer else "") for name, is_buffer in file.parameters]
    lines += [f"{name}: USER_INPUT" for name in network.inputs]
    return "\n# inputs\n" + "\n".join(lines) + "\n\n# outputs\nloss: USER_OUTPUT\n"


def encode(network, form, shared=None):
    """The bytes of an ONNX file as the exporter that `form` names would write it."""
    file = export(network, form, shared)
    name_output(file, network.loss)
    graph = b"".join(write_node(each) for each in file.nodes) + text(2, "main_graph")
    graph += b"".join(text(5, tensor(array, name)) for name, array in file.initializers.items())
    graph += b"".join(encode_input(name, each) for name, each in network.inputs.items() if name != network.labels)
    graph += text(12, text(1, network.loss) + text(2, text(1, number(1, 1))))
    if form != "old":
        key = "pkg.torch.export.ExportedProgram.graph_signature"
        graph += text(16, text(1, key) + text(2, write_signature(file, network)))
    return number(1, 10) + text(2, "pytorch") + text(7, graph) + text(8, text(1, "") + number(2, OPSET))

