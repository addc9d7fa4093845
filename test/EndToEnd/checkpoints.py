"""Checkpoints: a run that goes on from one has the bits of a run that never stopped, on its own layout; another layout reads the same
elements; what is killed goes on; signals and files ask for one."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import time

import cases
import checkpoint_files
import gpus
import program
import promises

BIG = {"zero": {"persistence_threshold": 0}}
# Twelve programs of each model. tp 4 where heads divide, else tp 2 and more of dp.
LAYOUTS = {
    "one rank": {},
    "dp 2": {"dp": 2},
    "dp 2, stage 1, bf16": {"dp": 2, "stage": 1, "precision": "bf16"},
    "dp 4, stage 2, two micro-batches": {"dp": 4, "stage": 2, "micro_batches": 2},
    "dp 4, stage 3": {"dp": 4, "stage": 3, **BIG},
    "dp 4 in groups of 2, stage 3": {"dp": 4, "stage": 3, "shard": 2, **BIG},
    "tp 2": {"tp": 2},
    "tp 2, dp 4": {"tp": 2, "dp": 4},
    "pp 2": {"pp": 2, "micro_batches": 2},
    "pp 2, interleaved": {"pp": 2, "micro_batches": 2, "schedule": "interleaved"},
    "dp 2, pp 2, tp 2, stage 3, processes": {"dp": 2, "pp": 2, "tp": 2, "stage": 3, "micro_batches": 2},
    "dp 2, stage 3, simulated GPUs": {"dp": 2, "stage": 3, **BIG},
}
MODELS = [("gpt2-tiny", "loss", "adamw"), ("bert-tiny", "loss", "adamw")]
# What takes part in a resume beside the layout: keys of the spec, and of the case.
RESUMED = {
    "fp16, a scale that moves": {"precision": {"compute": "fp16", "loss_scale": {"initial": 2 ** 30, "window": 3}}},
    "bf16 without masters": {"precision": {"compute": "bf16", "master": "none"}, "dp": 2, "stage": 1},
    "states in sixteen bits": {"precision": {"compute": "bf16", "states": "bf16"}, "dp": 2, "stage": 3},
    "sgd": {"optimizer": {"type": "sgd", "lr": 0.01}},
    "nesterov": {"optimizer": {"type": "sgd", "lr": 0.01, "momentum": 0.9, "nesterov": True}, "dp": 2, "stage": 2},
    "adam": {"optimizer": {"type": "adam", "lr": 0.001}},
    "lion": {"optimizer": {"type": "lion", "lr": 0.0001}, "dp": 2},
    "adagrad": {"optimizer": {"type": "adagrad", "lr": 0.01}},
    "two groups": {"optimizer": {"type": "adamw", "lr": 0.001, "groups": [{"match": ['"*weight"'], "lr": 0.0001}]}, "tp": 2},
    "a frozen part": {"trainable": ['"*"', '"!*wte*"'], "dp": 2, "stage": 3},
    "a shuffle and a cosine": {"shuffle": True, "lr_schedule": {"type": "cosine", "warmup": 4, "steps": 20}, "dp": 2},
}


def make(setting, name, model, layout, **changes):
    """The program of a layout, with checkpoints in `ck` of its folder."""
    layout, folder = dict(layout), name.replace(",", "").replace(" ", "-")
    fields = {key: layout.pop(key) for key in promises.LAYOUT if key in layout}
    changes = {"checkpoint": {"dir": setting.scratch / folder / "ck"}, **layout, **changes}
    if "simulated" in name:
        return gpus.Simulated(setting, folder, model, fields, **changes)
    case = cases.Case(*model, **fields)
    trace = program.read_trace(setting, case)
    if changes.pop("shuffle", False):
        changes["data"] = {**program.spec_of(setting, case, trace)["data"], "shuffle": True}
    return program.Program.of_case(setting, case, trace, folder, **changes)


class Run:
    """A program of a layout, with what differs between targets."""

    def __init__(self, setting, name, model, layout, **changes):
        self.made = make(setting, name, model, layout, **changes)
        self.program = getattr(self.made, "program", self.made)
        self.options = ("--processes",) if "processes" in name else ()
        self.variables = self.made.variables("early", XLC_SIMULATE_DEVICES=8) if self.made is not self.program else None
        self.checkpoints = self.program.folder / "ck"

    def train(self, steps, *options, tag="run", expect=0):
        return self.program.train(steps, *self.options, *options, tag=tag, expect=expect, variables=self.variables)

    def fields(self, tag="run"):
        """Of all steps, but for times."""
        return [{key: value for key, value in line.items() if key not in ("seconds", "samples_per_second")}
                for line in self.program.log(tag)]

    def saved(self, tag="run"):
        return (self.program.folder / f"{tag}.safetensors").read_bytes()


def goes_on(run, stops, steps=20):
    """Complaints where a run that stops after each of `stops` steps is not that which never stopped."""
    run.train(steps, tag="whole")
    shutil.rmtree(run.checkpoints)
    for last in (*stops, steps):
        run.train(last, "--resume", "auto", tag="parts")
    if run.fields("whole") != run.fields("parts"):
        first = next((a, b) for a, b in itertools.zip_longest(run.fields("whole"), run.fields("parts")) if a != b)
        yield f"the log of a run that stopped after {stops} differs: {first[0]} and {first[1]}"
    if run.saved("whole") != run.saved("parts"):
        yield f"what a run saves that stopped after {stops} differs"


def resumes_itself(name, model, layout, **changes):
    def check(setting):
        yield from goes_on(Run(setting, name, model, layout, **changes), (7, 13))
    return check


def converts(model, first, second, further=True):
    """Ten steps under one, and a checkpoint that the other writes before its first step: the same elements. And ten steps more."""
    def check(setting):
        run, other = (Run(setting, f"{number} {name}", model, LAYOUTS[name]) for number, name in enumerate((first, second)))
        run.train(10)
        whole = checkpoint_files.newest(run.checkpoints)
        other.train(10, "--resume", whole, "--checkpoint-now")
        before, after = (checkpoint_files.read(folder) for folder in (whole, checkpoint_files.newest(other.checkpoints)))
        if before[0]["progress"] != after[0]["progress"]:
            yield f"progress was {before[0]['progress']}, is {after[0]['progress']}"
        if before[1].keys() != after[1].keys():
            yield f"tensors differ: {before[1].keys() ^ after[1].keys()}"
        yield from (f"'{key}' differs" for key, tensor in before[1].items() if tensor != after[1].get(key, tensor))
        if "bf16" in first + second or not further:
            return
        run.train(20, "--resume", whole, tag="goes-on")
        other.train(20, "--resume", whole, tag="other")
        far = max(abs(a - b) for a, b in zip(run.program.losses("goes-on")[-10:], other.program.losses("other")[-10:]))
        if far > 5e-6:
            yield f"losses of ten steps further are {far} apart"
    return check


def wait_for(condition, process, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)


def is_killed_at_random(times, steps):
    """The final file of a run that was killed again and again is that of one which was not."""
    def check(setting):
        run = Run(setting, "killed", MODELS[0], {"dp": 2, "stage": 3}, checkpoint={"dir": setting.scratch / "killed" / "ck", "every": 2})
        run.train(steps, tag="whole")
        shutil.rmtree(run.checkpoints)
        command = [str(word) for word in (run.program.path, "--steps", steps, "--resume", "auto", "--save", run.program.folder / "parts.safetensors")]
        dice, kills = random.Random(5), 0
        for _ in range(times):
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
                time.sleep(dice.uniform(0.02, 0.25))
                process.kill()
                said = process.stderr.read()
                kills += process.wait() == -signal.SIGKILL
            if "error" in said:
                yield f"a run said: {said}"
        program.run(command)
        if run.saved("whole") != run.saved("parts"):
            yield f"the file of a run that was killed {kills} times differs"
    return check


def signals_ask_for_one(setting):
    """SIGTERM: after its step, and the end with 143; SIGUSR1 and `checkpoint-now`: one more, and the same bits at the end."""
    run = Run(setting, "asked", MODELS[0], {})
    code, _ = run.program.interrupt_when(lambda _: (run.program.folder / "run.jsonl").exists() and len(run.program.log()) > 3, send=signal.SIGTERM)
    steps = len(run.program.log())
    folder = checkpoint_files.newest(run.checkpoints).name
    if (code, folder) != (-signal.SIGTERM, f"step-{steps:08}"):
        yield f"SIGTERM after {steps} steps: exit {code}, the newest is {folder}"
    run.train(150, tag="whole")
    for ask in (lambda process: process.send_signal(signal.SIGUSR1), lambda process: (run.checkpoints / "checkpoint-now").touch()):
        shutil.rmtree(run.checkpoints)
        log = run.program.folder / "asked.jsonl"
        log.unlink(missing_ok=True)
        command = [str(word) for word in (run.program.path, "--steps", 150, "--log", log, "--save", run.program.folder / "asked.safetensors")]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            wait_for(lambda: log.exists() and log.stat().st_size > 1000, process)
            ask(process)
            process.wait(timeout=120)
        written = sorted(path.name for path in run.checkpoints.iterdir() if path.is_dir())
        if len(written) != 2 or (run.checkpoints / "checkpoint-now").exists():
            yield f"asked for one, there are {written}"
        if run.saved("whole") != run.saved("asked"):
            yield "a run that was asked for a checkpoint ends otherwise"


def some_stay(setting):
    """Which are there after 50 steps; and a second run in the folder ends before it touches anything."""
    run = Run(setting, "retention", MODELS[0], {"dp": 2}, checkpoint={"dir": setting.scratch / "retention" / "ck", "every": 5, "keep": 2, "keep_every": 10})
    run.train(50)
    names = sorted(path.name for path in run.checkpoints.iterdir())
    if names != ["lock"] + [f"step-{step:08}" for step in (10, 20, 30, 40, 45, 50)]:
        yield f"there are {names}"
    command = [str(run.program.path), "--steps", "1000000", "--log", str(run.program.folder / "first.jsonl")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_for(lambda: (run.program.folder / "first.jsonl").exists() and (run.program.folder / "first.jsonl").stat().st_size > 0, process)
        said = run.train(1, tag="second", expect=1)
        process.kill()
    if "another run writes its own" not in said:
        yield f"a second run in the folder said: {said}"


def is_full(setting):
    """A small file system: one line names file and reason, training goes on, the older checkpoint verifies."""
    if os.geteuid():
        raise promises.Skipped("mounting needs root")
    run = Run(setting, "full", MODELS[0], {"dp": 2, "stage": 1}, checkpoint={"dir": setting.scratch / "full" / "disk" / "ck", "every": 5, "keep": 0})
    disk = run.program.folder / "disk"
    disk.mkdir()
    try:
        program.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", disk])
    except program.CommandFailed as problem:
        raise promises.Skipped("no file system can be mounted") from problem
    try:
        said = run.train(20, expect=1)
        left = sorted(path.name for path in (disk / "ck").iterdir() if path.is_dir())
        if said.count("No space left on device") != said.count("training goes on") or "warning: there is no checkpoint of step" not in said:
            yield f"a full disk: {said[-600:]}"
        if not left or left[0] != "step-00000005":
            yield f"on the full disk is {left}"
        for name in left:
            checkpoint_files.read(disk / "ck" / name)
    finally:
        program.run(["umount", disk])


def list_checks(all_of_them):
    pairs = list(itertools.product(LAYOUTS, LAYOUTS))
    sample = [("one rank", "dp 2, pp 2, tp 2, stage 3, processes"), ("dp 2, pp 2, tp 2, stage 3, processes", "dp 2, stage 3, simulated GPUs"),
              ("dp 4 in groups of 2, stage 3", "tp 2, dp 4"), ("dp 2, stage 1, bf16", "tp 2"), ("pp 2, interleaved", "dp 4, stage 3")]
    checks = [(f"checkpoints: {model[0]}, {first}; {second}", converts(model, first, second, all_of_them or "GPUs" not in second))
              for model in MODELS for first, second in (pairs if all_of_them else sample) if all_of_them or model == MODELS[0]]
    checks += [(f"checkpoints: {model[0]} goes on, {name}", resumes_itself(name, model, layout))
               for model in MODELS for name, layout in LAYOUTS.items() if all_of_them or (model == MODELS[0] and "stage 3, processes" in name)]
    for name, changes in RESUMED.items():
        changes = dict(changes)
        layout = {key: changes.pop(key) for key in ("dp", "stage", "tp") if key in changes}
        if all_of_them or name in ("fp16, a scale that moves", "a shuffle and a cosine", "a frozen part"):
            checks.append((f"checkpoints: resumes {name}", resumes_itself(name, MODELS[0], layout, **changes)))
    checks += [("checkpoints: killed at random", is_killed_at_random(*((100, 300) if all_of_them else (6, 60)))), ("checkpoints: signals and files", signals_ask_for_one),
               ("checkpoints: retention", some_stay), ("checkpoints: a full disk", is_full)]
    return checks
