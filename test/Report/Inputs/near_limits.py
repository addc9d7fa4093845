"""Plans of models whose every size is near a limit: no figure is negative, and each is what Python's integers say.

    near_limits.py FOLDER        xlc is in the path; models and specs are written into FOLDER

Weights are in external files that are not there: a plan needs none of them.
"""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Fuzz"))
import wire  # noqa: E402
from graph import integer, make_node, message, text  # noqa: E402

FLOAT = 1
SPEC = """{layout}
batch: {{global: {rows}, micro: {micro}}}
loss: {{type: cross_entropy, logits: y, labels: labels}}
optimizer: {{type: adamw, lr: 1.0e-3}}
"""


def weight(name, dims):
    place = message(13, "Entry", [text(1, "location"), text(2, "absent.bin")])
    return message(5, "Tensor", [integer(1, size) for size in dims] + [integer(2, FLOAT), text(8, name), integer(14, 1), place])


def value(number, name, dims):
    shape = [message(1, "Dimension", [integer(1, size) if isinstance(size, int) else text(2, size)]) for size in dims]
    kind = message(1, "TensorType", [integer(1, FLOAT), message(2, "Shape", shape)])
    return message(number, "Value", [text(1, name), message(2, "Type", [kind])])


def model(nodes, weights, width):
    graph = [*nodes, *(weight(*each) for each in weights), value(11, "x", ["batch", width]), value(12, "y", ["batch", "classes"])]
    return wire.serialize([integer(1, 8), message(8, "Opset", [integer(2, 17)]), message(7, "Graph", [text(2, "g"), *graph])])


def product(rows, columns):
    return model([make_node("MatMul", ["x", "w"], ["y"])], [("w", [rows, columns])], rows)


def tower(width, layers):
    nodes = [make_node("MatMul", [f"h{i}" if i else "x", f"layers.{i}.w"], [f"h{i + 1}" if i + 1 < layers else "y"])
             for i in range(layers)]
    return model(nodes, [(f"layers.{i}.w", [width, width]) for i in range(layers)], width)


def tanhs(width, layers, each):
    """Layers of a scale and many results of `width`, all kept for backward."""
    nodes, last = [], "x"
    for layer in range(layers):
        for i in range(each):
            result = "y" if (layer, i) == (layers - 1, each - 1) else f"h{layer}.{i}"
            nodes.append(make_node("Tanh", [last], [result]) if i else make_node("Mul", [last, f"layers.{layer}.w"], [result]))
            last = result
    return model(nodes, [(f"layers.{layer}.w", [1]) for layer in range(layers)], width)


class Case:
    def __init__(self, folder, name, data, layout, micro, micro_batches, dp=1):
        self.folder = folder / name
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "model.onnx").write_bytes(data)
        (self.folder / "spec.yaml").write_text(SPEC.format(layout=f"dp: {dp}\n{layout}", rows=micro * micro_batches * dp, micro=micro))

    def run(self, *arguments):
        return subprocess.run(["xlc", "plan", "model.onnx", "--spec", "spec.yaml", *arguments], cwd=self.folder,
                              capture_output=True, text=True, check=False)

    def plan(self):
        """The report, whose numbers are all checked."""
        for arguments in ([], ["--trace", "trace.json"]):
            table = self.run(*arguments)
            assert table.returncode == 0, (self.folder.name, table.returncode, table.stderr[:400])
            assert "-" not in [word[0] for word in table.stdout.split() if word[0] == "-" and word[1:2].isdigit()], table.stdout
        result = self.run("--json")
        assert result.returncode == 0, (self.folder.name, result.returncode, result.stderr[:400])
        report = json.loads(result.stdout)
        check_numbers(report, self.folder.name)
        check_sums(report)
        return report

    def refused(self, words):
        result = self.run("--json")
        assert result.returncode == 1 and words in result.stderr, (self.folder.name, result.returncode, result.stderr[:400])
        assert not (self.folder / "xlc-reproducer.mlir").exists()


def check_numbers(node, path):
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        check_numbers(child, f"{path}.{key}")
    assert not isinstance(node, (int, float)) or node >= 0, (path, node)
    assert not isinstance(node, str) or not node.startswith("\x01"), (path, node)


def check_sums(report):
    for group in report["groups"]:
        memory, flops = group["memory"], group["flops"]
        assert memory["total"] == memory["arena"] + memory["outside"], memory
        assert memory["lower_bound"] == sum(memory["by_cause"].values()) <= memory["arena"], memory
        assert flops["total"] == flops["forward"] + flops["backward"] + flops["update"] >= flops["products"], flops
    for kind in ("all_gather", "reduce_scatter"):
        for axis in ("dp", "tp"):
            ranks = sum(group["traffic"][axis][kind] * group["count"] for group in report["groups"])
            assert report["traffic_of_all_ranks"][axis][kind] == ranks, (axis, kind)


def main(folder):
    # One product of 2^62 FLOPs, and its gradient: 2^63, then 2^65.
    for micro in (1 << 22, 1 << 24):
        case = Case(folder, f"product-{micro}", product(1 << 20, 1 << 19), "", micro, 1)
        assert case.plan()["groups"][0]["flops"]["products"] == 2 * 2 * micro << 39, "FLOPs of the product"
    # All ranks gather 2^41 bytes once or twice for each micro-batch.
    case = Case(folder, "gathers", product(1 << 20, 1 << 19), "zero_stage: 3", 16, 1024, dp=65536)
    gathered, rest = divmod(case.plan()["traffic_of_all_ranks"]["dp"]["all_gather"], 65535 << 41)
    assert rest == 0 and 1024 <= gathered <= 2048, (gathered, rest)
    # 59 products of 2^49 FLOPs (the first has no gradient of x) in 1,024 micro-batches: 59 x 2^59.
    case = Case(folder, "tower", tower(1 << 14, 20), "", 1 << 20, 1024)
    assert case.plan()["groups"][0]["flops"]["products"] == 59 * 1024 << 49, "FLOPs of the tower"
    # Time of a stage beyond 2^63, and balance between stages.
    case = Case(folder, "busy", tanhs(1 << 20, 6, 25), "pp: 2\npipeline: {schedule: gpipe}", 1 << 21, 1023)
    assert 1 <= case.plan()["imbalance"] < 1.2, "imbalance"
    case = Case(folder, "busy-tower", tower(1 << 14, 20), "pp: 4\npipeline: {schedule: 1f1b}", 1 << 20, 1024)
    report = case.plan()
    assert sum(group["flops"]["products"] for group in report["groups"]) == 59 * 1024 << 49, "FLOPs of the stages"
    assert 1 <= report["imbalance"] < 1.2 and all(group["bubble"]["step"] < 0.5 for group in report["groups"]), report["imbalance"]
    # Just under 2^62 bytes; more; around 2^63.
    case = Case(folder, "arena-full", tanhs(1 << 20, 20, 60), "pp: 2\npipeline: {schedule: gpipe}", 1 << 24, 110)
    assert case.plan()["groups"][0]["memory"]["arena"] > 0.99 * (1 << 62), "arena"
    for micro_batches in (110, 120, 127):
        case = Case(folder, f"arena-{micro_batches}", tanhs(1 << 20, 40, 60), "pp: 2\npipeline: {schedule: gpipe}", 1 << 24, micro_batches)
        case.refused("would need more than 4194304 TiB")
    # Dimensions of 2^31 - 1, a tensor of just under 4 TiB.
    case = Case(folder, "dimension", product((1 << 31) - 1, 511), "zero_stage: 3", 8191, 1024, dp=128)
    assert case.plan()["groups"][0]["flops"]["products"] == 2 * 2 * 511 * ((1 << 31) - 1) * 8191 * 1024, "FLOPs"


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
    print("every figure is right")
