"""Programs that write checkpoints, and the ways of running them. Their common property: a run that stops and resumes
has the same bits as an uninterrupted one."""

import copy
import itertools
import shutil

import cases
import gpus
import processes
import program
import promises

LAYOUT = promises.LAYOUT  # keys of a case
GPT = ("gpt2-tiny", "loss", "adamw")
# Options of a program; mpirun stands before it, and simulated GPUs are of the program itself.
WAYS = {"threads": ("--threads",), "processes": ("--processes",), "streams on threads": ("--overlap", "threads"),
        "streams inline": ("--overlap", "inline"), "mpirun": (), "simulated GPUs": ("--threads",)}


def make(setting, folder, model, layout, way, **changes):
    """The program, with checkpoints in `ck` of its folder."""
    layout = dict(layout)
    fields = {key: layout.pop(key) for key in LAYOUT if key in layout}
    changes = {**layout, **changes}
    changes["checkpoint"] = {"dir": setting.scratch / folder / "ck", **changes.get("checkpoint", {})}
    if way == "simulated GPUs":
        return gpus.Simulated(setting, folder, model, fields, **changes)
    case = cases.Case(*model, **fields)
    trace = program.read_trace(setting, case)
    if changes.pop("shuffle", False):
        changes["data"] = {**program.spec_of(setting, case, trace)["data"], "shuffle": True}
    return program.Program.of_case(setting, case, trace, folder, **changes)


class Run:
    """A program and a way of running it."""

    def __init__(self, setting, name, model, layout, way="threads", **changes):
        if way == "mpirun" and not processes.MPIRUN:
            raise promises.Skipped("there is no mpirun")
        made = make(setting, name.replace(",", "").replace(" ", "-"), model, layout, way, **changes)
        self.program = getattr(made, "program", made)
        self.variables = made.variables("early", XLC_SIMULATE_DEVICES=8) if made is not self.program else None
        self.options, self.before = WAYS[way], ()
        if way == "mpirun":
            self.before = processes.mpirun(layout.get("dp", 1) * layout.get("pp", 1) * layout.get("tp", 1), "--bind-to", "none")
        self.checkpoints = self.program.folder / "ck"

    def within(self, folder):
        """The same program, whose outputs lie in another folder."""
        other = copy.copy(self)
        other.program = copy.copy(self.program)
        other.program.folder, other.checkpoints = folder, folder / "ck"
        other.options = (*self.options, "--checkpoint-dir", other.checkpoints)
        folder.mkdir(parents=True)
        return other

    def command(self, steps, *options, tag="run"):
        folder = self.program.folder
        return [str(word) for word in (*self.before, self.program.path, "--steps", steps, "--log", folder / f"{tag}.jsonl",
                                       "--save", folder / f"{tag}.safetensors", *self.options, *options)]

    def train(self, steps, *options, tag="run", expect=0):
        return program.run(self.command(steps, *options, tag=tag), expect, variables=self.variables)

    def fields(self, tag="run"):
        """Of all steps, but for times."""
        return [{key: value for key, value in line.items() if key not in ("seconds", "samples_per_second", "checkpoint_seconds")}
                for line in self.program.log(tag)]

    def saved(self, tag="run"):
        return (self.program.folder / f"{tag}.safetensors").read_bytes()


def differences(run, parts, other=None, whole="whole"):
    """Complaints where the run under one tag is not, bit for bit, that under another, which may be in another folder."""
    expected = (other or run).fields(whole), (other or run).saved(whole)
    if expected[0] != run.fields(parts):
        first = next((a, b) for a, b in itertools.zip_longest(expected[0], run.fields(parts)) if a != b)
        yield f"the log differs: {first[0]} and {first[1]}"
    if expected[1] != run.saved(parts):
        yield "what is saved differs"


def goes_on(run, stops, steps=20):
    """Complaints where a run that stops after each of `stops` steps is not that which never stopped."""
    run.train(steps, tag="whole")
    shutil.rmtree(run.checkpoints)
    for last in (*stops, steps):
        said = run.train(last, "--resume", "auto", tag="parts")
        if last != stops[0] and "resumes " not in said:
            yield f"the run did not go on: {said[-300:]}"
    yield from (f"stopped after {stops}: {complaint}" for complaint in differences(run, "parts"))
