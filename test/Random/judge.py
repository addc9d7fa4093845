"""Compiles a case, runs the program and compares it with the reference. What can come of it:

    right      losses, gradient norms and final parameters agree
    refused    exit 1 or 3 with a message: counted by message
    warned     the file of a plain export lost something (exporting.py), and a warning says so
    unsure     the reference itself moves as far under disturbances of float32's size, or stands at a kink
    wrong      anything else: another number, an internal error, a signal, a refusal without a message

A right program has also run under --check, which poisons the memory that is not live.
"""

import math
import os
import random as randoms
import re
import shutil
import subprocess
from dataclasses import dataclass, field

import cases
import exporting
import files
import network as networks
import training
from program import to_yaml
from tensors import Array

LOSS, NORM, PARAMETER = 5e-6, 5e-5, 1e-5  # relative, relative, of each element
NARROW = 0.1  # of a first loss in bfloat16, relative where it is more than 1
SMALLEST = 0.1  # what a relative error is of, at least
NEAREST = 1e-4  # to a kink
NUDGES, NUDGE = 4, 2.0 ** -23
SECONDS = 120
HARMLESS = ("tp = ",)  # warnings of ranks without work
DESCR = {"f": "<f4", "i": "<i8", "b": "|b1"}


@dataclass
class Verdict:
    kind: str  # right, refused, warned, unsure, wrong
    text: str = ""

    @property
    def signature(self):
        """What two failures of the same cause have in common: the words without names and numbers."""
        words = re.sub(r"'[^']*'", "'...'", self.text.split("\n")[0])
        return re.sub(r"[-+]?\d[\d.e+-]*", "N", words)[:160]


def quoted(value):
    """Patterns begin with characters that mean something in YAML."""
    if isinstance(value, str) and not re.fullmatch(r"[\w.-]+", value):
        return f'"{value}"'
    if isinstance(value, dict):
        return {key: quoted(entry) for key, entry in value.items()}
    return [quoted(entry) for entry in value] if isinstance(value, list) else value


def write(case, folder):
    """Model, spec and data as a user would have them, and the case itself."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(
        networks.encode(case.network) if case.form == "xlc" else exporting.encode(case.network, case.form, case.shared))
    spec = case.spec() | ({"data": {"train": {name: f"{name}.npy" for name in case.data}}} if case.data else {})
    (folder / "spec.yaml").write_text("".join(f"{key}: {to_yaml(quoted(value))}\n" for key, value in spec.items()))
    for name, array in case.data.items():
        files.write_npy(folder / f"{name}.npy", DESCR[array.kind], array.shape, array.data)
    form = [f"form: {case.form}" + (f", {' and '.join(case.shared)} are one" if case.shared else "")]
    (folder / "network.txt").write_text("\n".join([*form, *networks.describe(case.network)]) + "\n")


@dataclass
class Target:
    """What programs are compiled for, and where they run."""
    name: str
    has_gpus: bool = False  # keys for them are drawn; each case runs in bfloat16, too
    compiling: list = field(default_factory=list)  # options
    variables: dict = field(default_factory=dict)  # of the program's environment


def find_target(name, xlc):
    """GPUs are simulated: the kernels' image lies in the folder of the case, where its program runs."""
    if name == "cpu":
        return Target(name)
    image = "./kernels.so"
    return Target(name, True, ["--target", name, "--simulator-image", image],
                  {"XLC_CUDA_LIBRARIES": str(xlc.parents[1] / "lib" / "simulated"), "XLC_SIMULATE_IMAGE": image,
                   "XLC_SIMULATE_ORDER": "random", "XLC_SIMULATE_DEVICES": "16"})


def find_warning(said):
    """The first warning of something that the file lost."""
    found = [line.split("warning: ")[1] for line in said.splitlines() if "warning: " in line]
    return next((text for text in found if not text.startswith(HARMLESS)), "")


def call(command, folder, variables=None):
    """What the command said, or a Verdict where it did not end well. A crash leaves its reproducer in the folder."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=SECONDS, check=False,
                              cwd=folder, env={**os.environ, **(variables or {})})
    except subprocess.TimeoutExpired:
        return Verdict("wrong", f"no end within {SECONDS} s")
    said = done.stderr + done.stdout
    message = next((line for line in said.splitlines() if "error" in line), "")
    message = re.sub(r"^\S*:\d+:\d+: |^\S*\.onnx: ", "", message)
    if done.returncode == 0:
        return said
    if done.returncode == 4:
        return Verdict("wrong", "exit code 4: the programs differ\n" + said[-300:])
    if done.returncode in (1, 3) and message:
        return Verdict("refused", message)
    return Verdict("wrong", f"exit code {done.returncode}: {message or said[-300:]}")


def worst(pairs, least):
    """The largest relative difference; a NaN is the largest of all."""
    return max((abs(one - other) / max(abs(other), least) if math.isfinite(one) else math.inf for one, other in pairs), default=0)


def differences(found, trace):
    """(what, how far apart, how far they may be)"""
    losses, norms, parameters = found
    yield "losses", worst(zip(losses, trace.losses), SMALLEST), LOSS
    yield "norms", worst(zip(norms, trace.norms), SMALLEST), NORM
    for name, array in trace.parameters.items():
        yield name, worst(zip(parameters[name], array.data), 1.0), PARAMETER


def find_differences(found, trace):
    return [f"{what} are {error:.1e} apart, {limit:.0e} allowed" for what, error, limit in differences(found, trace)
            if not error <= limit]


def is_ill_conditioned(case, found, trace):
    """Whether results disturbed by a rounding error of float32 each move the reference a tenth as far as the program is away."""
    apart = {what: error for what, error, limit in differences(found, trace) if not error <= limit}
    generator = randoms.Random(0)

    def nudge(array):
        return Array(array.shape, [value * (1 + generator.uniform(-NUDGE, NUDGE)) for value in array.data])
    for _ in range(NUDGES):
        other = training.train(case.network, case.data, case.spec(), case.steps, nudge)
        moved = (other.losses, other.norms, {name: array.data for name, array in other.parameters.items()})
        for what, error, _ in differences(moved, trace):
            if what in apart and error * 10 >= apart[what]:
                del apart[what]
    return not apart


def read_results(folder):
    log = files.read_log(folder / "run.jsonl")
    saved = files.read_safetensors(folder / "run.safetensors")
    return [step["loss"] for step in log], [step["grad_norm"] for step in log], saved


def compare(case, folder, trace):
    losses, norms, saved = read_results(folder)
    if len(losses) != case.steps:
        return Verdict("wrong", f"{len(losses)} steps in the log")
    shapes = {name: array.shape for name, array in case.network.parameters.items()}
    if case.form != "xlc":  # constants are buffers there
        saved = {name: entry for name, entry in saved.items() if name not in case.network.constants}
    if case.form == "old" and saved.keys() != shapes.keys():  # names of transposed weights are lost
        numbers = worst(zip(losses, trace.losses), SMALLEST), worst(zip(norms, trace.norms), SMALLEST)
        return Verdict("right" if numbers[0] <= LOSS and numbers[1] <= NORM else "wrong", "mismatch of losses or norms, and of names")
    if {name: shape for name, (shape, _) in saved.items()} != shapes:
        lost = sorted(shapes.keys() ^ saved.keys()) or sorted(name for name in shapes if saved[name][0] != shapes[name])
        return Verdict("wrong", f"parameters differ in name or shape: {lost[:4]}")
    found = losses, norms, {name: values for name, (_, values) in saved.items()}
    complaints = find_differences(found, trace)
    if not complaints:
        return Verdict("right")
    if is_ill_conditioned(case, found, trace):
        return Verdict("unsure", "ill-conditioned: " + complaints[0])
    what = sorted({complaint.split()[0] if complaint.split()[0] in ("losses", "norms") else "parameters" for complaint in complaints})
    return Verdict("wrong", f"mismatch of {', '.join(what)}\n" + "\n".join(complaints[:6]))


def find_trace(case):
    """The reference's run, or a Verdict where it says nothing."""
    try:
        trace = training.train(case.network, case.data, case.spec(), case.steps)
    except (ValueError, OverflowError, ZeroDivisionError) as problem:
        return Verdict("unsure", f"the reference leaves the domain of an operator: {problem}")
    if not all(math.isfinite(value) for value in trace.losses + trace.norms):
        return Verdict("unsure", "numbers that are not finite")
    return Verdict("unsure", "near a kink") if trace.margin < NEAREST else trace


def run_narrow(case, xlc, target, folder, trace):
    """The same in bfloat16, whose kernels have other widths: it trains, and its first loss is about the reference's."""
    spec, program = folder / "narrow.yaml", folder / "narrow"
    spec.write_text((folder / "spec.yaml").read_text() + "precision: bf16\n")
    said = call([xlc, "compile", folder / "model.onnx", "--spec", spec, "-o", program, *target.compiling], folder)
    if isinstance(said, Verdict):
        return Verdict("right") if said.kind == "refused" else said
    said = call([program, "--steps", case.steps, "--log", folder / "narrow.jsonl", "--check"], folder, target.variables)
    if isinstance(said, Verdict):
        return Verdict("wrong", f"the program in bfloat16: {said.text}")
    loss, expected = files.read_log(folder / "narrow.jsonl")[0]["loss"], trace.losses[0]
    if not abs(loss - expected) <= NARROW * max(1.0, abs(expected)):
        return Verdict("wrong", f"mismatch in bfloat16\nthe first loss is {loss}, the reference's {expected}")
    return Verdict("right")


def run(case, xlc, target, folder, verifies=False):
    """A Verdict. The folder is the case's own."""
    trace = find_trace(case)
    if isinstance(trace, Verdict):
        return trace
    shutil.rmtree(folder, ignore_errors=True)
    write(case, folder)
    model, spec, program = folder / "model.onnx", folder / "spec.yaml", folder / "train"
    said = call([xlc, "compile", model, "--spec", spec, "-o", program, *target.compiling], folder)
    if isinstance(said, Verdict):
        return said
    warning = find_warning(said) if case.form != "xlc" else ""
    said = call([program, "--steps", case.steps, "--log", folder / "run.jsonl", "--save", folder / "run.safetensors", "--check"], folder,
                target.variables)
    if isinstance(said, Verdict):
        return said if said.kind == "refused" and case.shared else Verdict("wrong", f"the program: {said.text}")
    verdict = compare(case, folder, trace)
    if verdict.kind == "wrong" and warning:
        return Verdict("warned", warning)
    if target.has_gpus and verdict.kind == "right":
        verdict = run_narrow(case, xlc, target, folder, trace)
    if verifies and verdict.kind == "right":
        for name, precision in cases.PRECISIONS.items():
            typed = folder / f"{name}.yaml"
            typed.write_text(spec.read_text() + f"precision: {to_yaml(precision)}\n")
            said = call([xlc, "verify", model, "--spec", typed, "--target", target.name], folder)
            if isinstance(said, Verdict):
                return Verdict("wrong", f"verify {typed.name}: {said.text}")
    return verdict
