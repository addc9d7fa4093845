"""A model of one product whose weight has several blocks of a checkpoint on each of two ranks, and its data."""

import json
import pathlib
import random
import sys

import files

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Import" / "Operators"))
from model import node, number, text, value  # pylint: disable=wrong-import-position

SAMPLES, MICRO, INPUTS, OUTPUTS = 8, 4, 1024, 2048


def parameter(name, shape, zeros):
    """Of zeros, which its gradients move."""
    return text(5, b"".join(number(1, size) for size in shape) + number(2, 1) + text(8, name) + text(9, bytes(4 * zeros)))


def encode(name):
    """The bytes of an ONNX file: x, y -> the mean square of the distance of x `name` + bias from y."""
    graph = b"".join(node(op, inputs, [output], attributes, output) for op, inputs, output, attributes in (
        ("MatMul", ["x", name], "product", {}), ("Add", ["product", "bias"], "out", {}), ("Sub", ["out", "y"], "apart", {}),
        ("Mul", ["apart", "apart"], "squares", {}), ("ReduceMean", ["squares"], "loss", {"keepdims": 0})))
    graph += text(2, "wide") + parameter(name, [INPUTS, OUTPUTS], INPUTS * OUTPUTS) + parameter("bias", [OUTPUTS], OUTPUTS)
    graph += value(11, "x", "f", [MICRO, INPUTS]) + value(11, "y", "f", [MICRO, OUTPUTS])
    graph += text(12, text(1, "loss") + text(2, text(1, number(1, 1))))
    return number(1, 8) + text(7, graph) + text(8, text(1, "") + number(2, 18))


def write(folder, *names):
    """The same model under names of its weight, `loss` and so on, as the folders of models have them."""
    draw = random.Random(4)
    folder.mkdir()
    for name in names:
        (folder / f"{name}.onnx").write_bytes(encode(name))
    for name, size in (("x", INPUTS), ("y", OUTPUTS)):
        files.write_npy(folder / f"{name}.npy", "<f4", (SAMPLES, size), [draw.random() for _ in range(SAMPLES * size)])
    (folder / "trace-adamw.json").write_text(json.dumps({"inputs": ["x", "y"], "optimizer": {"type": "adamw", "lr": 0.001}, "clip_norm": None,
                                                         "global_batch": SAMPLES}))
