"""Runs xlc on an exported file: what it shows, and how the program that it makes trains."""

import json
import os
import pathlib
import subprocess

import numpy

XLC = pathlib.Path(os.environ.get("XLC", pathlib.Path(__file__).resolve().parents[2] / "build" / "bin" / "xlc"))


def run(*command, folder):
    done = subprocess.run([str(x) for x in command], cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def inspect(file):
    return json.loads(run(XLC, "inspect", file, "--json", folder=file.parent))


def train(file, model, trace, **layout):
    """Losses and gradient norms of the program that xlc makes of `file`, for the optimizer of `trace`."""
    folder = file.parent
    optimizer = dict(trace["optimizer"], **({"clip_norm": trace["clip_norm"]} if trace.get("clip_norm") else {}))
    batch = trace["global_batch"]
    sizes = {axis: int(numpy.load(model.folder / f"{name}.npy", mmap_mode="r").shape[i])
             for name, axes in zip(model.inputs, model.dynamic) for i, axis in enumerate(axes) if axis and i}
    spec = {"optimizer": optimizer, "loss": model.loss, "dims": sizes, "data": {"train": str(model.folder)},
            "batch": {"global": batch, "micro": batch}, **layout}
    (folder / "spec.yaml").write_text(json.dumps(spec))
    run(XLC, "compile", file, "--spec", "spec.yaml", "-o", "train", folder=folder)
    run("./train", "--steps", trace["steps"], "--log", "log.jsonl", folder=folder)
    steps = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [step["loss"] for step in steps], [step["grad_norm"] for step in steps]


def distance(got, wanted):
    """The largest relative difference; infinite where there are fewer or more."""
    if len(got) != len(wanted):
        return float("inf")
    return max(abs(a - b) / abs(b) for a, b in zip(got, wanted))
