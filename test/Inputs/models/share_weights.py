"""Writes the weights of a model once: the exports in a folder name them in one weights.data beside them.

    share_weights.py FOLDER...      needs the onnx package of Python

Exports of one model differ in their graphs and hold the same tensors. Float initializers of at least 1 KiB move to weights.data,
where equal bytes lie once, aligned, in the order in which the exports, sorted by name, have them. Integers, masks and small
tensors stay in the exports: without them a graph cannot be read. Of the metadata of nodes, the nesting of modules that nothing here
reads goes: a half of an export of the new exporter. The result depends on the exports alone, and a second run changes
nothing. Names, shapes, element types and the order of initializers stay what they are.
"""

import pathlib
import sys

import onnx

DATA = "weights.data"
SMALLEST = 1024  # bytes
ALIGNMENT = 64  # bytes
UNREAD = ("namespace", "pkg.torch.onnx.class_hierarchy")
FLOAT = onnx.TensorProto.FLOAT


def read_bytes(folder, tensor):
    """The elements of a tensor, from the file itself or from the one that it names."""
    if tensor.data_location != onnx.TensorProto.EXTERNAL:
        return tensor.raw_data
    place = {entry.key: entry.value for entry in tensor.external_data}
    begin = int(place.get("offset", 0))
    return (folder / place["location"]).read_bytes()[begin:begin + int(place["length"])]


def find_weights(folder, model):
    """(tensor, bytes) of what may move."""
    tensors = [(tensor, read_bytes(folder, tensor)) for tensor in model.graph.initializer if tensor.data_type == FLOAT]
    return [(tensor, data) for tensor, data in tensors if len(data) >= SMALLEST]


def name_place(tensor, offset, length):
    """Has a tensor name its place in weights.data instead of its elements."""
    tensor.ClearField("raw_data")
    tensor.ClearField("external_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", DATA), ("offset", str(offset)), ("length", str(length))):
        tensor.external_data.add(key=key, value=value)


def drop_metadata(model):
    for node in [*model.graph.node, *(node for function in model.functions for node in function.node)]:
        kept = [entry for entry in node.metadata_props if entry.key not in UNREAD]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)


def share(folder):
    models = {path: onnx.load(path, load_external_data=False) for path in sorted(folder.glob("*.onnx"))}
    weights = {path: find_weights(folder, model) for path, model in models.items()}
    offsets, shared = {}, bytearray()
    for path, of_file in weights.items():
        for tensor, data in of_file:
            if data not in offsets:
                shared += bytes(-len(shared) % ALIGNMENT)
                offsets[data] = len(shared)
                shared += data
            name_place(tensor, offsets[data], len(data))
    for path, model in models.items():
        drop_metadata(model)
        path.write_bytes(model.SerializeToString())
    (folder / DATA).write_bytes(shared)
    print(f"{folder}: {len(offsets)} weights of {len(models)} exports, {len(shared)} bytes")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        share(pathlib.Path(name))
