"""many_dimensions.py N OUT: a model with a ConstantOfShape of N dimensions of size 1."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Fuzz"))
import wire  # noqa: E402
from graph import integer, make_node, message, text  # noqa: E402


def tensor(name, kind, data, *dims):
    return message(5, "Tensor", [integer(1, size) for size in dims] + [integer(2, kind), text(8, name), text(9, data)])


def value(number, name):
    shape = [message(1, "Dimension", [text(2, "batch")]), message(1, "Dimension", [integer(1, 4)])]
    return message(number, "Value", [text(1, name),
                                     message(2, "Type", [message(1, "TensorType", [integer(1, 1), message(2, "Shape", shape)])])])


count = int(sys.argv[1])
ones = make_node("ConstantOfShape", ["sizes"], ["c"])
ones.value.append(text(3, "ones"))
nodes = [ones, make_node("ReduceSum", ["c"], ["s"]), make_node("MatMul", ["x", "w"], ["h"]), make_node("Add", ["h", "s"], ["y"])]
weights = [tensor("w", 1, struct.pack("<16f", *range(16)), 4, 4), tensor("sizes", 7, struct.pack("<q", 1) * count, count)]
graph = message(7, "Graph", [text(2, "g"), *nodes, *weights, value(11, "x"), value(12, "y")])
pathlib.Path(sys.argv[2]).write_bytes(wire.serialize([integer(1, 8), message(8, "Opset", [integer(2, 17)]), graph]))
