"""Compiles a model under a spec and runs the program: the commands that a user types, with their outputs kept.

A workshop is a folder for one test: spec, program, log and saved parameters lie in it under fixed names.
"""

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import files

sys.path.append(str(pathlib.Path(__file__).parent.parent / "Import" / "Inputs"))
import state_dict  # pylint: disable=wrong-import-position

# Of the small language models; the others have a sequence of 32.
DIMS = {"bert-tiny": {"sequence": 24}, "blenderbot-tiny": {"source": 16, "target": 12},
        "deberta-v2-tiny": {"sequence": 24}, "padded": {"sequence": 12},
        "dropout-gpt2": {"sequence": 16}, "dropout-bert": {"sequence": 16}}

# Names of a state dict for what has another name in the unoptimized export.
TIES = {"gpt2-tiny": {"model.transformer.wte.weight": "model.lm_head.weight"}}

# A buffer that the old exporter writes down like any bias.
TRAINABLE = {"blenderbot-tiny/loss-torchscript": ['"*"', '"!*final_logits_bias"']}

# What the old exporter does not write down.
PADDING = {"dropout-bert/loss-torchscript": {'"*word_embeddings.weight"': 0}, "dropout-bert/loss-sdpa-torchscript": {'"*word_embeddings.weight"': 0},
           "padded/logits-torchscript": {'"*embed.weight"': 1}}


@dataclasses.dataclass
class Setting:
    """Where things are: the driver, the models, and a folder for what is made."""
    xlc: pathlib.Path
    models: pathlib.Path
    scratch: pathlib.Path


class CommandFailed(Exception):
    """A command ended with another exit code than the test expects."""


def to_yaml(value):
    """Flow style, as in docs/Spec.md."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {to_yaml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(to_yaml, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def to_text(spec):
    """A spec file, a line per key."""
    return "".join(f"{key}: {to_yaml(value)}\n" for key, value in spec.items())


def spec_of(setting, case, trace):
    """The spec of a case as a dict; `trace` has the optimizer and the global batch."""
    folder = setting.models / case.folder
    labels = trace["inputs"][-1]
    optimizer = dict(trace["optimizer"])
    if trace["clip_norm"]:
        optimizer["clip_norm"] = trace["clip_norm"]
    batch = {"global": trace["global_batch"]}
    if case.micro_batches:
        batch["micro"] = trace["global_batch"] // (case.dp * case.micro_batches)
    spec = {"dp": case.dp, "zero_stage": case.stage,
            "batch": batch,
            "optimizer": optimizer,
            "data": {"train": {name: folder / f"{name}.npy" for name in trace["inputs"]}},
            "runtime": {"threads_per_rank": 1}}
    if "lr_schedule" in trace:
        spec["lr_schedule"] = trace["lr_schedule"]
    if case.shard:
        spec["dp_shard"] = case.shard
    if case.tp > 1:
        spec |= {"tp": case.tp, "sequence_parallel": case.sequence_parallel}
    if case.layout:
        spec["layout"] = {f'"{pattern}"': {dimension: "tp"} for pattern, dimension in case.layout}
    if case.pp > 1:
        spec |= {"pp": case.pp, "pipeline": case.pipeline}
    if case.zero:
        spec["zero"] = case.zero
    if case.folder in DIMS or "tiny" in case.folder:
        spec["dims"] = DIMS.get(case.folder, {"sequence": 32})
    if f"{case.folder}/{case.model}" in TRAINABLE:
        spec["trainable"] = TRAINABLE[f"{case.folder}/{case.model}"]
    if "scope" in trace:
        spec["loss"] = {"scope": trace["scope"]}
    if f"{case.folder}/{case.model}" in PADDING:
        spec["padding"] = PADDING[f"{case.folder}/{case.model}"]
    if "logits" in case.model:
        is_causal = case.folder.startswith(("gpt2", "llama", "padded"))
        spec["loss"] = {"type": "cross_entropy", "logits": "logits", "labels": labels, "shift": is_causal}
    if case.state_dict:
        path = setting.scratch / f"{case.folder}-{case.state_dict}.safetensors"
        tensors = state_dict.initializers(folder / f"{case.state_dict}.onnx")
        state_dict.write(path, tensors | {name: tensors[tied] for name, tied in TIES[case.folder].items()})
        spec["init"] = {"from": path}
    return spec


def run(command, expect=0, timeout=600, variables=None):
    """Runs a command to its end, with these variables beside those of the environment; returns its outputs as one text."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout, check=False,
                          env={**os.environ, **{name: str(value) for name, value in (variables or {}).items()}})
    if done.returncode != expect:
        raise CommandFailed(f"{pathlib.Path(command[0]).name} ended with {done.returncode}, not {expect}:\n"
                            f"{done.stdout[-800:]}{done.stderr[-1600:]}")
    return done.stdout + done.stderr


def resident_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


class Program:
    """A compiled program in a folder of its own."""

    def __init__(self, setting, name, model, spec, flags=()):
        self.folder = setting.scratch / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / "train"
        spec_path = self.folder / "spec.yaml"
        spec_path.write_text(to_text(spec))
        self.said = run([setting.xlc, "compile", model, "--spec", spec_path, "-o", self.path, *flags])

    @classmethod
    def of_case(cls, setting, case, trace, name=None, flags=(), **changes):
        """`changes` replace keys of the case's spec."""
        spec = spec_of(setting, case, trace) | changes
        model = setting.models / case.folder / f"{case.model}.onnx"
        return cls(setting, name or str(case).replace("/", "-").replace(" ", "-"), model, spec,
                   [*flags, *([] if case.raising else ["--no-raise"])])

    def train(self, steps, *options, expect=0, tag="run", timeout=600, variables=None):
        """Returns what the program said; log and parameters are then read with `log` and `parameters`."""
        return run([self.path, "--steps", steps, "--log", self.folder / f"{tag}.jsonl",
                    "--save", self.folder / f"{tag}.safetensors", *options], expect, timeout, variables)

    def evaluate(self, *options, tag="eval", expect=0, variables=None):
        """Evaluates once; what that comes to, or what was said where it fails."""
        log = self.folder / f"{tag}.jsonl"
        said = run([self.path, "--eval", "--log", log, *options], expect, variables=variables)
        return said if expect else next(iter(files.read_evaluations(log).values()))

    def log(self, tag="run"):
        return files.read_log(self.folder / f"{tag}.jsonl")

    def evaluations(self, tag="run"):
        return files.read_evaluations(self.folder / f"{tag}.jsonl")

    def losses(self, tag="run"):
        return [step["loss"] for step in self.log(tag)]

    def parameters(self, tag="run"):
        return files.read_safetensors(self.folder / f"{tag}.safetensors")

    def bits(self, tag="run"):
        """What two runs that are equal to the bit agree in: losses, norms, and the saved file."""
        return ([(step["loss"], step["grad_norm"]) for step in self.log(tag)],
                (self.folder / f"{tag}.safetensors").read_bytes())

    def stats(self, tag="run"):
        return json.loads((self.folder / f"{tag}.stats").read_text())

    def resident_bytes_after(self, *marks):
        """Starts a run, reads what the process holds in memory soon after each of these steps, and ends it."""
        seen = []
        with subprocess.Popen([str(self.path), "--steps", str(marks[-1] + 1000)], stdout=subprocess.PIPE,
                              text=True) as process:
            for line in process.stdout:
                if int(line.split()[1]) == marks[len(seen)]:
                    seen.append(resident_bytes(process.pid))
                    if len(seen) == len(marks):
                        process.kill()
                        break
        return seen

    def interrupt_when(self, condition, *options, send=signal.SIGINT, tag="run"):
        """Starts a long run, sends a signal once `condition()` holds, returns (exit code, seconds it took to end)."""
        command = [self.path, "--steps", "1000000", "--log", self.folder / f"{tag}.jsonl",
                   "--save", self.folder / f"{tag}.safetensors", *options]
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 60
            while not condition(process) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            begin = time.monotonic()
            process.send_signal(send)
            code = process.wait(timeout=60)
        return code, time.monotonic() - begin


def read_trace(setting, case):
    return json.loads((setting.models / case.folder / f"trace-{case.trace}.json").read_text())
