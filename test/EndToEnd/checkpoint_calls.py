"""Every system call that changes files while a run writes checkpoints: all processes are killed before it and after it,
and the run resumes with the bits of an uninterrupted one; or the call fails, and training continues."""

import errno
import itertools
import json
import mmap
import os
import pathlib
import shutil
import signal
import subprocess

import cases
import program
import promises

FOLDER = pathlib.Path(__file__).parent
STEPS, EVERY = 4, 2  # of the run that is killed: its second checkpoint replaces the first
MODEL = ("mlp", "logits", "sgd")
RUNS = {"one rank": ({}, ()), "two threads": ({"dp": 2, "stage": 3}, ("--threads",)), "eight threads": ({"dp": 8, "stage": 3}, ("--threads",)), "eight processes": ({"dp": 8, "stage": 3}, ("--processes",))}

KILLED = ("one rank", "eight threads", "eight processes")


class Watched:
    """A program, and the calls of its runs."""

    def __init__(self, setting, name, background, rule=None):
        """`rule`: of checkpoints, beside those of the run that is killed."""
        compiler = next(filter(None, map(shutil.which, ("clang++-22", "g++", "c++"))), None)
        if not compiler:
            raise promises.Skipped("there is no C++ compiler")
        self.xlc = setting.xlc
        self.shim = setting.scratch / "FileCalls.so"
        program.run([compiler, "-std=c++20", "-shared", "-fPIC", "-O1", FOLDER / "FileCalls.cpp", "-o", self.shim])
        fields, self.options = RUNS[name]
        case = cases.Case(*MODEL, **fields)
        folder = f"{name}-{background}".replace(" ", "-")
        self.disk = setting.scratch / folder / "disk"  # all whose calls are watched
        self.disk.mkdir(parents=True)
        self.checkpoints = self.disk / "ck"
        changes = {"zero": {"persistence_threshold": 0}} if fields else {}
        self.program = program.Program.of_case(setting, case, program.read_trace(setting, case), folder,
                                               checkpoint={"dir": self.checkpoints, "every": EVERY, "keep": 1, "background": background, **(rule or {})},
                                               optimizer={"type": "adamw", "lr": 0.001}, **changes)
        self.counter = self.program.folder / "count"

    def run(self, steps, tag, *options, **variables):
        """(exit code, what was said, calls); the process group is of its own."""
        self.counter.write_bytes(bytes(mmap.PAGESIZE))
        words = [self.program.path, "--steps", steps, "--resume", "auto", "--save", self.program.folder / f"{tag}.safetensors", *self.options, *options]
        environment = {**os.environ, "LD_PRELOAD": self.shim, "FILE_CALLS_IN": self.disk, "FILE_CALLS_COUNT": self.counter, **variables}
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, check=False, start_new_session=True,
                              env={name: str(value) for name, value in environment.items()})
        return done.returncode, done.stdout + done.stderr, int.from_bytes(self.counter.read_bytes()[:8], "little")

    def saved(self, tag):
        return (self.program.folder / f"{tag}.safetensors").read_bytes()

    def clear(self):
        shutil.rmtree(self.checkpoints, ignore_errors=True)


def chosen(count, places):
    """So many of the numbers from 1 to `count`, evenly; 0: all."""
    return range(1, count + 1) if not places or places >= count else sorted({1 + i * (count - 1) // (places - 1) for i in range(places)})


def killed(name, background, places):
    """Complaints where a run that was killed does not end as one that was not."""
    def check(setting):
        watched = Watched(setting, name, background)
        code, said, _ = watched.run(STEPS + EVERY, "whole")
        if code:
            yield f"exit code {code}: {said}"
        watched.clear()
        count = watched.run(STEPS, "counted")[2]
        for number, after in itertools.product(chosen(count, places), ("", "1")):
            watched.clear()
            where = f"killed {'behind' if after else 'before'} call {number} of {count}"
            code, said, _ = watched.run(STEPS, "killed", FILE_CALLS_KILL=number, FILE_CALLS_AFTER=after)
            if code != -signal.SIGKILL:
                yield f"{where}: exit code {code}: {said[-300:]}"
            code, said, _ = watched.run(STEPS + EVERY, "again")
            if code or watched.saved("again") != watched.saved("whole"):
                yield f"{where}: the run that goes on ends with {code} and other bits: {said[-300:]}"
    return check


def failing(name, places):
    """A call that fails costs a message and the checkpoint; the others are whole."""
    def check(setting):
        watched = Watched(setting, name, "off")
        watched.run(STEPS + EVERY, "whole")
        watched.clear()
        count = watched.run(STEPS + EVERY, "counted")[2]
        for number, number_of_error in itertools.product(chosen(count, places), (errno.ENOSPC, errno.EIO, 0)):
            watched.clear()
            code, said, _ = watched.run(STEPS + EVERY, "failed", FILE_CALLS_FAIL=number, FILE_CALLS_ERRNO=number_of_error)
            where = f"call {number} of {count} fails with {number_of_error and errno.errorcode[number_of_error] or 'a short write'}"
            before_first = "training continues" not in said and any(words in said for words in ("cannot create the folder of checkpoints", "cannot write checkpoints to this folder", "cannot be synced"))
            if not before_first and (code not in (0, 1) or watched.saved("failed") != watched.saved("whole")):
                yield f"{where}: exit code {code}: {said[-500:]}"
            if number_of_error == 0 and (code or "warning" in said):
                yield f"{where}: exit code {code}: {said[-500:]}"
            if said.count("warning") > 1 or (said.count("error") and os.strerror(number_of_error) not in said):
                yield f"{where}, and the run said: {said[-500:]}"
            folders = [path for path in watched.checkpoints.iterdir() if path.is_dir()] if watched.checkpoints.is_dir() else []
            for folder in folders:
                if (folder / "checkpoint.json").exists():
                    program.run([watched.xlc, "checkpoint", "verify", folder])
                elif "was not removed" not in said and not before_first:
                    yield f"{where}, and {folder.name} stays"
    return check


def waits_for_reads_alone(setting):
    """A disk whose syncs are slow delays the step behind a checkpoint with `off`, and not with `direct`."""
    seconds = {}
    for background in ("off", "direct"):
        watched = Watched(setting, "two threads", background)
        log = watched.program.folder / "log.jsonl"
        code, said, _ = watched.run(STEPS - 1, background, "--log", log, FILE_CALLS_SYNC=250)  # milliseconds
        if code:
            yield f"{background}: exit code {code}: {said}"
            return
        seconds[background] = sum(json.loads(line).get("checkpoint_seconds", 0) for line in log.read_text().splitlines())
    if not seconds["direct"] < 0.25 <= seconds["off"]:
        yield f"steps wait {seconds} s for a checkpoint"


def list_checks(all_of_them):
    checks = []
    for name, background in itertools.product(KILLED, ("off", "direct", "copy")):
        if all_of_them or (name, background) in (("eight threads", "direct"), ("one rank", "off")):
            checks.append((f"checkpoints: killed at a call, {name}, {background}", killed(name, background, 0 if all_of_them else 5)))
    checks += [(f"checkpoints: a call fails, {name}", failing(name, 0 if all_of_them else 6)) for name in KILLED if all_of_them or name == "one rank"]
    return checks + [("checkpoints: a slow disk delays no update", waits_for_reads_alone)]
