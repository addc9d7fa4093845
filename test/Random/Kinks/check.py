"""Trains the exports of make.py for one step of SGD with learning rate 1 and compares what it subtracts with PyTorch's gradient.

    check.py XLC FOLDER SCRATCH      FOLDER has gradients.json and the exports

The program runs the compiled kernels, so that theirs are the kinks that are looked at. What cannot be as PyTorch has it is
a row of EXCEPTIONS, with the reason; a row that is no longer needed is a failure.
"""

import fnmatch
import json
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import places  # noqa: E402,F401  (makes files importable)
import files  # noqa: E402  isort: skip

LIMIT = 3e-4  # of what is subtracted from numbers up to 1500
SPEC = """batch: {global: 1, micro: 1}
optimizer: {type: sgd, lr: 1}
data: {train: {x: x.npy}}
trainable: %s
"""

# (exporter, parameter): (what is right for the file, why it is not PyTorch's)
EXCEPTIONS = {
    ("torchscript", "max_dim_0"): ([0.0, 0.5, 0.5, 0.0], "a ReduceMax, as for amax, and nothing in the file tells them apart"),
    ("torchscript", "min_dim_0"): ([0.0, 0.5, 0.0, 0.5], "likewise"),
    ("torchscript", "topk_0"): ([0.0, 1.0, 2.0, 0.0, 0.0], "PyTorch does not say which of equal elements it takes: the first"),
    ("dynamo", "topk_0"): ([0.0, 1.0, 2.0, 0.0, 0.0], "likewise"),
}
# The old exporter writes sqrt(x.x y.y) before the larger of it and eps: at zero, infinity times zero for whoever derives it.
ENDLESS = {"torchscript": ["cosine_*"], "dynamo": []}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")


def find_gradients(xlc, model, exporter, scratch):
    """{name: (shape, elements)} after one step."""
    scratch.mkdir(parents=True, exist_ok=True)
    files.write_npy(scratch / "x.npy", "<f4", (1, 1), [0.0])
    (scratch / "spec.yaml").write_text(SPEC % json.dumps(["*"] + ["!" + name for name in ENDLESS[exporter]]))
    run(xlc, "compile", model, "--spec", scratch / "spec.yaml", "-o", scratch / "train")
    run(scratch / "train", "--steps", "1", "--save", scratch / "after.safetensors")
    return files.read_safetensors(scratch / "after.safetensors")


def compare(exporter, found, table):
    """Complaints. Parameters that an exporter could not write are not in its file."""
    for name, (_, after) in found.items():
        if any(fnmatch.fnmatch(name, pattern) for pattern in ENDLESS[exporter]):
            continue
        values, gradient = table[name]
        wanted = EXCEPTIONS.get((exporter, name), (gradient,))[0]
        got = [before - new for before, new in zip(values, after)]
        if not all(abs(one - other) <= LIMIT for one, other in zip(got, wanted)):
            yield f"{exporter}: {name} at {values}: {[round(each, 6) for each in got]}, expected {wanted}"
        elif (exporter, name) in EXCEPTIONS and wanted == gradient:
            yield f"{exporter}: {name} needs no exception"


def main():
    xlc, folder, scratch = map(pathlib.Path, sys.argv[1:])
    table = json.loads((folder / "gradients.json").read_text())
    complaints, count = [], 0
    for exporter in ("torchscript", "dynamo"):
        found = find_gradients(xlc, folder / f"kinks-{exporter}.onnx", exporter, scratch / exporter)
        complaints += compare(exporter, found, table["gradients"])
        count += len(found)
    print("\n".join(complaints) or f"{count} gradients are those of PyTorch {table['torch']}")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
