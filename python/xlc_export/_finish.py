"""Makes the file out of the traced graph: inputs become initializers again, marks become ONNX operators with metadata.

Works on onnx_ir models, which both exporters can be read as.
"""

import os

from . import _marks, _record
from ._refusals import ExportRefused

OPSETS = range(13, 22)  # what xlc reads; docs/Limits.md
LARGEST_FILE = 1536 << 20  # bytes of values; protobuf ends at 2 GiB


def to_inputs(model, tensors, most_inputs):
    """Makes inputs of the initializers that hold `tensors`, where they are not; a tied name is replaced by the first one.
    Returns the values by name. `most_inputs`: how many inputs there may be besides."""
    graph, values = model.graph, {}
    held = {value.name: value for value in graph.inputs} | dict(graph.initializers)
    for name, _, ties in tensors:
        found = [held[key] for key in (name, *ties) if key in held]
        for value in found[1:]:
            value.replace_all_uses_with(found[0], replace_graph_outputs=True)
        values.update({name: found[0]} if found else {})
        for value in found:
            graph.initializers.pop(value.name, None)
            graph.inputs[:] = [x for x in graph.inputs if x is not value]
    if len(graph.inputs) > most_inputs:
        others = ", ".join(f"'{value.name}'" for value in graph.inputs)
        raise ExportRefused(f"the exporter added inputs to the graph that the module does not have: {others}")
    for name, value in values.items():
        value.name, value.const_value = name, None
        graph.inputs.append(value)
    return values


def inline(model):
    """Calls of functions become their bodies, so that what reads a parameter is in the graph."""
    import onnx_ir.passes.common

    if model.functions:
        onnx_ir.passes.common.InlinePass()(model)


def to_initializers(model, values, tensors, is_kept):
    """The other way around: the inputs `values` become initializers with the values of `tensors`."""
    import onnx_ir as ir

    graph = model.graph
    held = {id(value) for value in values.values()}
    graph.inputs[:] = [x for x in graph.inputs if id(x) not in held]
    taken = {x.name for x in graph.inputs}
    for name, tensor, _ in tensors:
        value = values.get(name) or ir.Value(name=name)
        if name in taken:
            raise ExportRefused(f"'{name}' is the name of an input and of a parameter or buffer: choose other input_names")
        if not value.uses() and not is_kept(name):
            continue
        rename_others(graph, value, name)
        value.name = name
        value.const_value = ir.tensor_adapters.TorchTensor(tensor.detach(), name=name)
        value.dtype, value.shape = value.const_value.dtype, value.const_value.shape
        graph.initializers[name] = value


def rename_others(graph, value, name):
    """A value of the graph that happens to have a parameter's name gets another one."""
    for node in graph:
        for output in node.outputs:
            if output is not value and output.name == name:
                output.name = f"{name}/value"


def replace_marks(model):
    """Marks become ONNX's operators with metadata, whether they are operators of their own or attributes."""
    import onnx_ir as ir

    operators = {"StopGradient": ("Identity", "stop_gradient", 1), "Embedding": ("Gather", "axis", 0),
                 "BatchNorm": ("BatchNormalization", "training_mode", 1)}
    for node in list(ir.traversal.RecursiveGraphIterator(model.graph)):
        if node.domain == _marks.DOMAIN and node.op_type == "KeepBuffers":
            keep_buffers(model.graph, node)
        elif node.domain == _marks.DOMAIN:
            node.op_type, attribute, value = operators[node.op_type]
            node.attributes.add(ir.AttrInt64(attribute, value))
            node.domain, node.version = "", None
        for mark in ("stop_gradient", "padding_idx"):
            if node.domain == "" and mark in node.attributes:
                node.metadata_props[f"xlc.{mark}"] = str(node.attributes.pop(mark).as_int())
    model.opset_imports.pop(_marks.DOMAIN, None)


def keep_buffers(graph, node):
    """A mark of next values of buffers: the node's value is its first input, then come the buffers, then their values."""
    import onnx_ir as ir

    y, *others = node.inputs
    half = len(others) // 2
    for buffer, value in zip(others[:half], others[half:]):
        mark = ir.node("Identity", [value], metadata_props={"xlc.buffer": buffer.name})
        mark.outputs[0].name, mark.name = f"{buffer.name}/next", f"{buffer.name}/next"
        graph.insert_before(node, mark)
    node.outputs[0].replace_all_uses_with(y, replace_graph_outputs=True)
    graph.remove(node, safe=True)


def count_reads(model, record):
    """Notes in the record how many operands of nodes each tensor is, so that a reader sees when a tool has changed that."""
    graphs = [model.graph, *model.graph.subgraphs()]
    returned = [value for graph in graphs[1:] for value in graph.outputs]
    for entry in record["parameters"] + record["buffers"]:
        value = model.graph.initializers.get(entry["name"])
        entry["reads"] = (len(value.uses()) + sum(other is value for other in returned)) if value else 0


def remove_paths(model):
    """Stack traces name files of this machine; nothing reads them."""
    import onnx_ir as ir

    for node in ir.traversal.RecursiveGraphIterator(model.graph):
        node.metadata_props.pop("pkg.torch.onnx.stack_trace", None)


def check(model):
    opset = model.opset_imports.get("")
    if opset not in OPSETS:
        raise ExportRefused(f"the file would have opset {opset}, but xlc reads opsets {OPSETS[0]} to {OPSETS[-1]}: pass "
                            "opset_version=18")


def save(model, record, path, external_data):
    import onnx_ir as ir

    model.metadata_props[_record.KEY] = _record.dump(record)
    size = sum(value.const_value.nbytes for value in model.graph.initializers.values())
    if external_data or size > LARGEST_FILE:
        path = os.fspath(path)
        ir.save(model, path, external_data=os.path.basename(path) + ".data", size_threshold_bytes=1024)
    else:
        ir.save(model, path)
