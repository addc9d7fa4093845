"""Damaged checkpoints of all kinds (damage.py): `xlc checkpoint verify` names them, no run begins from one, and
`--resume auto` takes the one before. Nothing crashes, hangs, or allocates memory that it does not use."""

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import threading

import checkpoint_calls
import checkpoint_runs
import damage
import wide_model

MEMORY = 256 << 20  # that a command may take; a program, beside what it takes anyway
SECONDS = 120  # then it hangs
OLDER, NEWER = "step-00000002", "step-00000004"


# A child begins with the peak of the process that starts it, so a small one does.
STARTER = """import os, sys
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
os.write(int(sys.argv[1]), f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss}".encode())
"""


def measure(words):
    """(exit code, what it said, bytes resident at most)"""
    told, tells = os.pipe()
    command = [sys.executable, "-I", "-S", "-c", STARTER, str(tells), *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", pass_fds=[tells],
                          start_new_session=True) as process:
        os.close(tells)
        timer = threading.Timer(SECONDS, lambda: os.killpg(process.pid, signal.SIGKILL))
        timer.start()
        said = process.stdout.read()
        process.wait()
        timer.cancel()
    with os.fdopen(told) as pipe:
        code, kilobytes = (pipe.read() or f"{-signal.SIGKILL} 0").split()
    return int(code), said, int(kilobytes) * 1024


class Checkpoints:
    """Of a program of two ranks, after steps 2 and 4; and of the same model under another name."""

    def __init__(self, setting):
        models = setting.scratch / "models"
        models.mkdir()
        wide_model.write(models / "wide", "weight", "other")
        setting = dataclasses.replace(setting, models=models)
        self.xlc = setting.xlc
        runs = [checkpoint_runs.Run(setting, name, ("wide", name, "adamw"), {"dp": 2, "stage": 3, "zero": {"persistence_threshold": 0}},
                                    checkpoint={"every": 2}) for name in ("weight", "other")]
        for run in runs:
            run.train(4)
        self.run, (self.whole, self.strange) = runs[0], (run.checkpoints for run in runs)
        self.place = setting.scratch / "damaged"
        self.most = max(self.resume("auto", self.whole)[2], self.resume(self.whole / OLDER, self.whole)[2])

    def lay(self, *names):
        """A folder that has these of the checkpoints, as links."""
        shutil.rmtree(self.place, ignore_errors=True)
        for name in names:
            shutil.copytree(self.whole / name, self.place / name, copy_function=os.link)
        return self.place / NEWER

    def resume(self, which, place):
        return measure([self.run.program.path, "--threads", "--steps", 4, "--resume", which, "--checkpoint-dir", place])

    def verify(self, folder):
        return measure([self.xlc, "checkpoint", "verify", folder])


def complaints_of(made, name, file, tensor, change, arguments):
    """About one damage: the commands, in the order in which a user would meet it."""
    def wrong(what, outcome):
        return f"{name}: {what}: exit code {outcome[0]}, {outcome[2] >> 20} MiB, said {outcome[1][:500]}"
    folder = made.lay(OLDER, NEWER)
    change(folder, *arguments)
    verified = made.verify(folder)
    if verified[0] != 4 or file not in verified[1] or str(folder) not in verified[1] or (tensor and f"'{tensor}' is damaged: elements" not in verified[1]) or verified[2] > MEMORY:
        yield wrong("verify", verified)
    if (itself := made.resume(folder, made.place))[0] != 6 or itself[2] > made.most + MEMORY:
        yield wrong("--resume PATH", itself)
    has_manifest = (folder / damage.MANIFEST).exists()
    before = made.resume("auto", made.place)
    if before[0] or f"resumes {made.place / OLDER}: " not in before[1] or (has_manifest and str(folder) not in before[1]):
        yield wrong("--resume auto", before)
    change(made.lay(NEWER), *arguments)
    alone = made.resume("auto", made.place)
    if alone[0] != (6 if has_manifest else 0):
        yield wrong("--resume auto without another", alone)


def is_found(places):
    def check(setting):
        made = Checkpoints(setting)
        yield from (f"whole: {outcome}" for outcome in [made.verify(made.whole / NEWER)] if outcome[0] or outcome[2] > MEMORY)
        kinds = damage.all_of(made.whole / NEWER, made.whole / OLDER, made.strange / NEWER)
        if len(kinds) < 200:
            yield f"these are {len(kinds)} kinds of damage"
        for number in checkpoint_calls.chosen(len(kinds), places):
            yield from complaints_of(made, *kinds[number - 1])
    return check


def list_checks(all_of_them):
    return [("checkpoints: damage of all kinds is found", is_found(0 if all_of_them else 20))]
