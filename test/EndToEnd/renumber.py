"""A copy of an ONNX file that contains only the computation: every tensor and node has a number for a name, and there
is no metadata. What Import does with names, scopes and signatures it must do without them here, from structure and
values.

    renumber.py model.onnx copy.onnx     prints {"input_ids": "17", ...} for the inputs and outputs of the graph
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Fuzz"))
import wire  # noqa: E402  pylint: disable=wrong-import-position

# message -> fields that are about names and metadata, and go
DROPPED = {"Model": {2, 3, 4, 5, 6, 14}, "Graph": {10, 13, 16}, "Node": {3, 6, 9}, "Tensor": {12, 16}, "Value": {3, 4}}
# message -> fields that hold the name of a tensor
NAMES = {"Node": {1, 2}, "Tensor": {8}, "Value": {1}}


def strip(fields, message, rename):
    """Drops and renames in place. A tensor in an attribute has a name, too, which nothing refers to."""
    fields[:] = [field for field in fields if field.number not in DROPPED.get(message, ())]
    for field in fields:
        if field.number in NAMES.get(message, ()) and field.value:
            field.value = rename(field.value)
        elif field.message:
            strip(field.value, field.message, rename)


def renumber(data):
    """Returns the copy and {old name: new name}."""
    numbers = {}
    fields = wire.parse(data)
    strip(fields, "Model", lambda name: numbers.setdefault(name, str(len(numbers))).encode())
    for graph in [field for field in fields if field.message == "Graph"]:
        for field in graph.value:
            if field.number == 2:
                field.value = b"0"
        for position, node in enumerate(field for field in graph.value if field.message == "Node"):
            node.value.append(wire.Field(3, wire.BYTES, str(position).encode()))
    return wire.serialize(fields), {old.decode(): new for old, new in numbers.items()}


def main():
    copy, numbers = renumber(pathlib.Path(sys.argv[1]).read_bytes())
    pathlib.Path(sys.argv[2]).write_bytes(copy)
    graph = next(field for field in wire.parse(copy) if field.message == "Graph")
    own = {part.value.decode() for value in graph.value if value.message == "Value" for part in value.value
           if part.number == 1}
    print(json.dumps({old: new for old, new in numbers.items() if new in own}))


if __name__ == "__main__":
    main()
