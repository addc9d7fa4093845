"""The first value that is not finite is named: causes of ten kinds are planted, in data, in a parameter and behind operations, on a rank
and in a micro-batch, in several layouts; the program ends with 7, and its line names rank, micro-batch, operation and element.
"""

import dataclasses
import math
import pathlib
import random
import re
import sys

import evaluation
import files
import program
from program import state_dict

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Import" / "Operators"))
from model import ELEMENT_TYPES, node, number, tensor, text  # pylint: disable=wrong-import-position
from tensors import Array  # pylint: disable=wrong-import-position

WIDTH, BLOCKS, STEP = 8, 4, 3  # the step in which a cause is planted
PLANTED = "layer.2.plant"  # the node behind two blocks


@dataclasses.dataclass
class Cause:
    """What stands between the second block and the third, `h` being the value there and `a` an input: nodes (op, inputs, output,
    attributes); with which `a` it is harmless, and with which it makes a number that is not finite."""
    name: str
    nodes: list
    harmless: float
    planted: float
    says: str  # a regular expression of the operation that is named
    keys: dict = dataclasses.field(default_factory=dict)
    parameter: float = 0  # instead of data: the value of a parameter's element


PRODUCT = [("Mul", ["h", "a"], PLANTED, {})]
CAUSES = [
    Cause("nan in data", PRODUCT, 1, math.nan, r": element \[ROW, 0\] of input 'a' is nan"),
    Cause("infinity in data", PRODUCT, 1, math.inf, r": element \[ROW, 0\] of input 'a' is inf"),
    Cause("nan in a parameter", PRODUCT, 1, 1, r"(parameter 'layer.1.up.weight'.* nan at|all_gather)", parameter=math.nan),
    Cause("infinity in a parameter", PRODUCT, 1, 1, r"(parameter 'layer.1.up.weight'.* infinite number at|all_gather)", parameter=math.inf),
    Cause("exp", [("Exp", ["a"], "e", {}), ("Mul", ["h", "e"], PLANTED, {})], 0, 200, r"\(kernel_\d+: [^)]*exp.*element \[ROW, 0\].* is (-inf|inf)"),
    Cause("log", [("Log", ["a"], "l", {}), ("Add", ["h", "l"], PLANTED, {})], 1, 0, r"\(kernel_\d+: [^)]*log.*element \[ROW, 0\].* is -inf"),
    Cause("division", [("Div", ["h", "a"], PLANTED, {})], 1, 0, r"\(kernel_\d+: [^)]*div.*element \[ROW, 0\].* is (-inf|inf)"),
    Cause("a product in float16", [("Abs", ["h"], "b", {}), ("Mul", ["b", "a"], "m", {}), ("MatMul", ["m", "wide.weight"], PLANTED, {})], 0.01, 1e4, r"\(kernel_\d+: [^)]*contract.*element \[ROW, \d+\].* is (-inf|inf|nan)",
          {"precision": {"compute": "fp16", "loss_scale": {"initial": 1, "min": 1}}}),  # wide.weight: 2 everywhere
    Cause("softmax of all masked", [("Greater", ["a", "zero"], "seen", {}), ("Where", ["seen", "h", "lowest"], "scores", {}),
                                    ("Softmax", ["scores"], "p", {"axis": -1}), ("Mul", ["h", "p"], PLANTED, {})],
          1, -1, r"\(kernel_\d+: .*element \[ROW, 0\].* is nan"),
    Cause("a root in backward", [("Mul", ["h", "a"], "m", {}), ("Mul", ["m", "m"], "s", {}), ("Sqrt", ["s"], "r", {}),
                                 ("Add", ["h", "r"], PLANTED, {})], 1, 0, r"action '[^']* B'.*element \[ROW, 0\].* is nan"),
]

Layout = evaluation.Layout
LAYOUTS = [
    Layout("one rank", {}, 2), Layout("dp 2 stage 1", {"dp": 2, "zero_stage": 1}, 2),
    Layout("dp 4 stage 3 as processes", {"dp": 4, "zero_stage": 3, "zero": evaluation.PERSISTENT}, 2, ("--processes",)),
    Layout("pp 2", {"pp": 2}, 2), Layout("tp 2 dp 2", {"dp": 2, "tp": 2}, 2),
    Layout("dp 2 pp 2 as processes", {"dp": 2, "pp": 2, "zero_stage": 1}, 2, ("--processes",)),
]


def encode(cause):
    """The bytes of an ONNX file: x, a, y -> loss, the mean square of the distance of four residual blocks from y."""
    draw = random.Random(3)
    names = [f"layer.{block}.{part}.weight" for block in range(BLOCKS) for part in ("up", "down")]
    parameters = [text(5, tensor(Array([WIDTH, WIDTH], [draw.gauss(0, 0.3) for _ in range(WIDTH * WIDTH)]), name)) for name in names]
    if any("wide.weight" in inputs for _, inputs, _, _ in cause.nodes):
        parameters.append(text(5, tensor(Array([WIDTH, WIDTH], [2.0] * (WIDTH * WIDTH)), "wide.weight")))
    constants = {"zero": Array([], [0.0]), "lowest": Array([], [-math.inf])}
    nodes = [node("Constant", [], [name], {"value": array}, name) for name, array in constants.items()]
    last = "x"
    for block in range(BLOCKS):
        if block == 2:
            nodes += [node(op, [{"h": last}.get(name, name) for name in inputs], [output], attributes, f"planted/{output}")
                      for op, inputs, output, attributes in cause.nodes]
            last = PLANTED
        own = f"layer.{block}"
        for op, inputs, output in (("MatMul", [last, f"{own}.up.weight"], f"{own}.up"), ("Tanh", [f"{own}.up"], f"{own}.tanh"),
                                   ("MatMul", [f"{own}.tanh", f"{own}.down.weight"], f"{own}.down"), ("Add", [last, f"{own}.down"], own)):
            nodes.append(node(op, inputs, [output], {}, f"{own}/{op}/{output}"))
        last = own
    nodes += [node("Sub", [last, "y"], ["apart"], {}, "apart"), node("Mul", ["apart", "apart"], ["squares"], {}, "squares"),
              node("ReduceMean", ["squares"], ["loss"], {"keepdims": 0}, "loss")]
    batch = text(1, text(2, "batch")) + text(1, number(1, WIDTH))
    inputs = b"".join(text(11, text(1, name) + text(2, text(1, number(1, ELEMENT_TYPES["f"]) + text(2, batch)))) for name in ("x", "a", "y"))
    graph = b"".join(nodes) + text(2, "planted") + b"".join(parameters) + inputs
    graph += text(12, text(1, "loss") + text(2, text(1, number(1, 1))))
    return number(1, 8) + text(7, graph) + text(8, text(1, "") + number(2, 18))


def write_data(folder, cause, rows, at):
    draw = random.Random(4)
    for name in ("x", "y"):
        files.write_npy(folder / f"{name}.npy", "<f4", (rows, WIDTH), [draw.uniform(-1, 1) for _ in range(rows * WIDTH)])
    values = [float(cause.harmless)] * (rows * WIDTH)
    if not cause.parameter:
        values[at * WIDTH:(at + 1) * WIDTH] = [float(cause.planted)] * WIDTH
    files.write_npy(folder / "a.npy", "<f4", (rows, WIDTH), values)


def with_bad_parameter(made, cause, *options, variables=None):
    """The initial values, one element of a matrix aside."""
    made.train(1, "--lr", 0, *options, tag="start", variables=variables)
    tensors = made.parameters("start")
    shape, values = tensors["layer.1.up.weight"]
    values[3 * WIDTH + 1] = cause.parameter
    path = made.folder / "bad.safetensors"
    state_dict.write(path, {name: ("F32", shape, values) for name, (shape, values) in tensors.items()})
    return path


def is_named(setting, cause, layout, at, flags=(), variables=None):
    """`at` chooses rank, micro-batch and row."""
    dp, tp, micro = layout.keys.get("dp", 1), layout.keys.get("tp", 1), layout.micro
    micro_batch, dp_index, row = at % 2, (at // 2) % dp, (at // 3) % micro
    if cause.parameter:
        micro_batch = dp_index = 0
    batch = 2 * micro * dp
    folder = setting.scratch / re.sub("[^a-z0-9]+", "-", f"{cause.name}-{layout.name}")
    folder.mkdir()
    setting = dataclasses.replace(setting, scratch=folder)
    (folder / "model.onnx").write_bytes(encode(cause))
    write_data(folder, cause, 4 * batch, (STEP - 1) * batch + (micro_batch * dp + dp_index) * micro + row)
    spec = {**layout.keys, **cause.keys, "batch": {"global": batch, "micro": micro}, "optimizer": {"type": "sgd", "lr": 1.0e-3},
            "data": {"train": folder}, "runtime": {"threads_per_rank": 1}}
    made = program.Program(setting, "train", folder / "model.onnx", spec, flags)
    step, options = STEP, list(layout.options)
    if cause.parameter:
        step, options = 1, [*options, "--init", with_bad_parameter(made, cause, *options, variables=variables)]
    said = made.train(STEP + 1, *options, expect=7, variables=variables)
    lines = re.findall("^the first value that is not finite: (.*)", said, re.M)
    if len(lines) != 1:
        yield f"{cause.name}: {len(lines)} lines name a value:\n{said[-800:]}"
        return
    place = re.match(rf"step {step}, rank (\d+), (?:micro-batch (\d+), )?action '", lines[0])
    gathers = "all_gather" in lines[0]
    if not place or int(place[1]) // tp % dp != dp_index or (not gathers and place[2] != str(micro_batch)):
        yield f"{cause.name}: planted in step {step}, micro-batch {micro_batch} of dp index {dp_index}: {lines[0]}"
    if not re.search(cause.says.replace("ROW", str(row)), lines[0]):
        yield f"{cause.name}: planted in row {row}, not {cause.says}: {lines[0]}"
    if step > 1:
        made.train(step - 1, *options, tag="before", variables=variables)
        if made.bits()[1] != made.bits("before")[1]:
            yield f"{cause.name}: what is saved is not what the step before left"


def are_named(setting, layout, number_of_layout, flags=(), variables=None):
    for at, cause in enumerate(CAUSES):
        yield from is_named(setting, cause, layout, at + 3 * number_of_layout, flags, variables)


def are_named_on_gpus(setting):
    variables = {"XLC_CUDA_LIBRARIES": setting.xlc.parents[1] / "lib" / "simulated", "XLC_SIMULATE_DEVICES": 2}
    layout = Layout("gpus", {"dp": 2, "zero_stage": 1}, 2, ("--threads",))
    for at, cause in enumerate(CAUSES):
        image = setting.scratch / f"image-{at}.so"
        yield from is_named(setting, cause, layout, at, ["--target", "cuda", "--simulator-image", image],
                            {**variables, "XLC_SIMULATE_IMAGE": image})


def is_found_where_the_loss_is_finite(setting):
    """An infinite number that a tangent makes 1 of: the loss shows nothing, --check-nan ends the run."""
    cause = Cause("infinity behind a tangent", [("Log", ["a"], "l", {}), ("MatMul", ["l", "wide.weight"], "w", {}), ("Tanh", ["w"], "t", {}),
                                                ("Mul", ["t", "zero"], "z", {}), ("Add", ["h", "z"], PLANTED, {})], 1, 0, "")
    folder = setting.scratch
    (folder / "model.onnx").write_bytes(encode(cause))
    write_data(folder, cause, 16, 5)
    spec = {"batch": {"global": 4, "micro": 2}, "trainable": ['"*"', '"!wide.weight"'], "optimizer": {"type": "sgd", "lr": 1.0e-3}, "data": {"train": folder},
            "runtime": {"threads_per_rank": 1}}
    made = program.Program(setting, "train", folder / "model.onnx", spec)
    said = made.train(4, "--check-nan", expect=7)
    if "error: step 2: a value is not finite" not in said or "step 2, rank 0, micro-batch 0" not in said:
        yield said[-600:]


def list_checks(everything):
    chosen = list(enumerate(LAYOUTS))
    checks = [(f"examination: {layout.name}", lambda setting, at=at, layout=layout: are_named(setting, layout, at))
              for at, layout in (chosen if everything else chosen[1:4:2])]
    checks.append(("examination: a finite loss", is_found_where_the_loss_is_finite))
    return checks + [("examination: simulated GPUs", are_named_on_gpus)] * everything
