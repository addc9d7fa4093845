"""A model of one attention whose keys a mask leaves out, as BERT's, or as a decoder's that is causal, and its data: some queries see no key at all.

The mask is read as BERT's exports read it: where it is 0, scores become the lowest float, so that a query without a key attends to all alike.
"""

import json
import random
import sys

import files
import program

sys.path.append(str(program.pathlib.Path(__file__).resolve().parents[1] / "Import" / "Operators"))
from model import node, number, tensor, text, value  # pylint: disable=wrong-import-position
from tensors import Array  # pylint: disable=wrong-import-position

SAMPLES, WIDTH, HEADS = 4, 16, 2
LOWEST = -3.4028234663852886e38


def encode(keys, causal):
    """The bytes of an ONNX file: x, keep -> loss, the mean square of the distance of attention(x) from y."""
    draw = random.Random(3)

    def parameter(name, shape):
        data = [draw.gauss(0, shape[0] ** -0.5) for _ in range(shape[0] * shape[1])]
        return text(5, tensor(Array(shape, data), name))

    size = WIDTH // HEADS
    constants = {"split": Array([4], [0, keys, HEADS, size], "i"), "merge": Array([3], [0, keys, WIDTH], "i"),
                 "beside": Array([2], [1, 2], "i"), "one": Array([], [1], "i"), "root": Array([], [size ** 0.5]),
                 "lowest": Array([], [LOWEST])}
    if causal:
        constants |= {"rows": Array([keys, 1], list(range(keys)), "i"), "columns": Array([1, keys], list(range(keys)), "i")}
    nodes = [node("Constant", [], [name], {"value": array}, name) for name, array in constants.items()]

    def emit(op, inputs, output, **attributes):
        nodes.append(node(op, inputs, [output], attributes, output))
        return output

    for name, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        emit("MatMul", ["x", f"layer.{name}.weight"], f"{name}_whole")
        emit("Reshape", [f"{name}_whole", "split"], f"{name}_heads")
        emit("Transpose", [f"{name}_heads"], name, perm=order)
    emit("Equal", ["keep", "one"], "is_kept")
    seen = emit("Unsqueeze", ["is_kept", "beside"], "seen")
    if causal:
        emit("GreaterOrEqual", ["rows", "columns"], "before")
        seen = emit("And", [seen, "before"], "seen_before")
    emit("MatMul", ["q", "k"], "products")
    emit("Div", ["products", "root"], "scaled")
    emit("Where", [seen, "scaled", "lowest"], "scores")
    emit("Softmax", ["scores"], "p", axis=-1)
    emit("MatMul", ["p", "v"], "heads")
    emit("Transpose", ["heads"], "positions", perm=[0, 2, 1, 3])
    emit("Reshape", ["positions", "merge"], "merged")
    emit("MatMul", ["merged", "layer.out.weight"], "out")
    emit("Sub", ["out", "y"], "apart")
    emit("Mul", ["apart", "apart"], "squares")
    emit("ReduceMean", ["squares"], "loss", keepdims=0)
    graph = b"".join(nodes) + text(2, "conditional")
    graph += b"".join(parameter(f"layer.{name}.weight", [WIDTH, WIDTH]) for name in ("q", "k", "v", "out"))
    graph += b"".join(value(11, *each) for each in (("x", "f", [SAMPLES, keys, WIDTH]), ("keep", "i", [SAMPLES, keys]),
                                                    ("y", "f", [SAMPLES, keys, WIDTH])))
    graph += text(12, text(1, "loss") + text(2, text(1, number(1, 1))))
    return number(1, 8) + text(7, graph) + text(8, text(1, "") + number(2, 18))


def write(folder, keys, causal=False):
    """The model `loss`, its rows and what it is trained with, as the folders of models have them: of the samples one sees all keys, one
    a half, one a third, one none. The first keys; if `causal` the last, so that queries before them see none."""
    draw = random.Random(4)
    folder.mkdir()
    (folder / "loss.onnx").write_bytes(encode(keys, causal))
    for name in ("x", "y"):
        files.write_npy(folder / f"{name}.npy", "<f4", (SAMPLES, keys, WIDTH), [draw.gauss(0, 1) for _ in range(SAMPLES * keys * WIDTH)])
    kept = (keys, keys // 2, keys // 3, 0)
    places = list(range(keys))[::-1 if causal else 1]
    files.write_npy(folder / "keep.npy", "<i8", (SAMPLES, keys), [int(i < count) for count in kept for i in places])
    (folder / "trace-sgd.json").write_text(json.dumps({"inputs": ["x", "keep", "y"], "optimizer": {"type": "sgd", "lr": 0.5},
                                                       "clip_norm": None, "global_batch": SAMPLES}))
