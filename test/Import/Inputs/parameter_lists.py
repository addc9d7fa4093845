"""Compares the parameters that Import finds in every file of every folder with those that PyTorch saved after training.

    parameter_lists.py FOLDER...     each with .onnx files, trace-*.json and final-*.json (or final-*.safetensors)

Left out: files of which parameters were folded away for good, one that lost a dropout, and one whose buffer nothing tells from a parameter.
"""

import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

LEFT_OUT = {"gpt2-tiny/loss-static", "cnn/logits-folded", "blenderbot-tiny/loss-torchscript", "dropout-bert/loss-sdpa"}
PARAMETER = re.compile(r'tensor<((?:\d+x)*)f32> \{([^}]*)graph\.param = "([^"]*)"')


def read_expected(folder):
    if kept := next(folder.glob("final-*.json"), None):
        return {name: entry["shape"] for name, entry in json.loads(kept.read_text()).items()}
    data = next(folder.glob("final-*.safetensors")).read_bytes()
    header = json.loads(data[8:8 + struct.unpack_from("<Q", data)[0]])
    return {name: entry["shape"] for name, entry in header.items() if name != "__metadata__"}


def write_spec(path, folder, model):
    trace = json.loads(next(folder.glob("trace-*.json")).read_text())
    data = model.read_bytes()
    dims = [name for name in ("sequence", "source", "target") if b"\x12" + bytes([len(name)]) + name.encode() in data]
    lines = ["batch: {micro: 2}", "dims: {" + ", ".join(f"{name}: 16" for name in dims) + "}"]
    if "logits" in model.name:
        lines.append(f"loss: {{type: cross_entropy, logits: logits, labels: {trace['inputs'][-1]}}}")
    path.write_text("\n".join(lines) + "\n")


def find_parameters(model, spec):
    command = ["xlc", "plan", model, "--spec", spec, "--stop-after=Import"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr[-600:]
    signature = done.stdout[done.stdout.index("func.func @forward"):].split("\n", 1)[0]
    return {name: [int(size) for size in sizes.split("x") if size]
            for sizes, marks, name in PARAMETER.findall(signature) if "graph.buffer" not in marks}, ""


def check_folder(folder, spec):
    expected = read_expected(folder)
    for model in sorted(folder.rglob("*.onnx")):
        name = f"{folder.name}/{model.relative_to(folder).with_suffix('')}"
        if name in LEFT_OUT:
            continue
        write_spec(spec, folder, model)
        found, problem = find_parameters(model, spec)
        if found is not None:
            wrong = {name for name in found.keys() ^ expected.keys() if not name.endswith(("running_mean", "running_var"))}
            wrong |= {name for name in found.keys() & expected.keys() if found[name] != expected[name]}
            problem = f"differ in {sorted(wrong)[:6]}" if wrong else ""
        print(f"{name}: {problem or 'equal'}")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        for folder in map(pathlib.Path, sys.argv[1:]):
            for each in [folder] if list(folder.glob("*.onnx")) else sorted(folder.iterdir()):
                if each.is_dir() and any(each.glob("final-*.*")):
                    check_folder(each, pathlib.Path(scratch) / "spec.yaml")


if __name__ == "__main__":
    main()
