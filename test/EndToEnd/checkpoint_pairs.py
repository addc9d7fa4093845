"""Twelve programs of each model: each one reads the unchanged checkpoints of every other, and resumes from them.

A program is compiled once for all of its pairs, and its runs, ten steps and twenty, are made once: 144 pairs are 144
short runs of the second program.
"""

import dataclasses
import functools
import itertools
import shutil
import threading

import checkpoint_files
import checkpoint_runs
import program

BIG = {"zero": {"persistence_threshold": 0}}
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
MODELS = [checkpoint_runs.GPT, ("bert-tiny", "loss", "adamw")]
HALF, WHOLE = 10, 20  # steps
APART = 5e-6  # of losses of ten steps in float32


def run_of(setting, folder, model, name):
    way = next((way for way in ("processes", "simulated GPUs") if way in name), "threads")
    return checkpoint_runs.Run(setting, folder, model, LAYOUTS[name], way)


class Origin:
    """A program of a layout, and its runs of ten steps and of twenty."""

    def __init__(self, setting, model, name):
        self.xlc, self.lock = setting.xlc, threading.Lock()
        self.run = run_of(dataclasses.replace(setting, scratch=setting.scratch.parent / "layouts"), f"{model[0]} {name}", model, name)

    def trained(self):
        """With the checkpoint of its tenth step; `whole` is the tag of twenty."""
        with self.lock:
            if not self.run.checkpoints.exists():
                self.run.train(WHOLE, "--checkpoint-dir", self.run.program.folder / "of-whole", tag="whole")
                self.run.train(HALF)
        return self.run

    def checkpoint(self):
        return checkpoint_files.newest(self.trained().checkpoints)

    @functools.cached_property
    def exported(self):
        return export(self.xlc, self.checkpoint())


ORIGINS, GUARD = {}, threading.Lock()


def origin_of(setting, model, name):
    """Compiles it where no pair of this run has done so."""
    with GUARD:
        lock, made = ORIGINS.setdefault((setting.scratch.parent, model, name), (threading.Lock(), []))
    with lock:
        if not made:
            made.append(Origin(setting, model, name))
    return made[0]


def export(xlc, checkpoint):
    path = checkpoint.parent / f"{checkpoint.name}.safetensors"
    program.run([xlc, "checkpoint", "export", checkpoint, "--states", "-o", path])
    return path.read_bytes()


def converts(model, first, second, further=True):
    """Ten steps under one, and a checkpoint that the other writes before its first step: the same elements, to the commands of xlc and
    to a reader of the format. And ten steps more."""
    def check(setting):
        origin = origin_of(setting, model, first)
        other = origin_of(setting, model, second).run.within(setting.scratch / "second")
        there = origin.checkpoint()
        other.train(HALF, "--resume", there, "--checkpoint-now")
        copied = checkpoint_files.newest(other.checkpoints)
        if export(setting.xlc, copied) != origin.exported:
            yield "an export with its states has other bytes"
        before, after = (checkpoint_files.read(folder) for folder in (there, copied))
        if before[0]["progress"] != after[0]["progress"]:
            yield f"progress was {before[0]['progress']}, is {after[0]['progress']}"
        if before[1].keys() != after[1].keys():
            yield f"tensors differ: {before[1].keys() ^ after[1].keys()}"
        yield from (f"'{key}' differs" for key, tensor in before[1].items() if tensor != after[1].get(key, tensor))
        if further and ("bf16" not in first + second or first == second):
            yield from goes_on(origin, other, first == second)
        shutil.rmtree(other.program.folder)
    return check


def goes_on(origin, other, is_same):
    """Ten steps more: those of the first, bit for bit or nearly."""
    other.train(WHOLE, "--resume", origin.checkpoint(), tag="further")
    further, whole = other.program.losses("further"), origin.trained().program.losses("whole")
    far = max(abs(a - b) for a, b in zip(further, whole[HALF:], strict=True))
    if far > APART:
        yield f"losses of ten steps further are {far} apart"
    if is_same and (other.fields("further") != origin.run.fields("whole")[HALF:] or other.saved("further") != origin.run.saved("whole")):
        yield "ten steps further are not those of a run that never stopped"


def list_checks(all_of_them):
    sample = [("one rank", "dp 2, pp 2, tp 2, stage 3, processes"), ("dp 2, pp 2, tp 2, stage 3, processes", "dp 2, stage 3, simulated GPUs"),
              ("dp 4 in groups of 2, stage 3", "tp 2, dp 4"), ("dp 2, stage 1, bf16", "tp 2"), ("pp 2, interleaved", "dp 4, stage 3"),
              ("tp 2, dp 4", "tp 2, dp 4")]
    pairs = list(itertools.product(LAYOUTS, LAYOUTS)) if all_of_them else sample
    return [(f"checkpoints: {model[0]}, {first}; {second}", converts(model, first, second, all_of_them or "GPUs" not in second))
            for model in MODELS[:2 if all_of_them else 1] for first, second in pairs]
