"""Checkpoints: of killed runs, on request by signals and files, in a folder with others, on a full disk.
checkpoint_pairs tests checkpoints of other layouts, checkpoint_resumes the features that take part in a resume.
"""

import os
import random
import shutil
import signal
import subprocess
import time

import checkpoint_files
import checkpoint_pairs
import checkpoint_resumes
import checkpoint_runs
import program
import promises

MODEL = checkpoint_runs.GPT


def wait_for(condition, process, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)


def is_killed_at_random(times, steps):
    """The final file of a run that was killed again and again is that of one which was not."""
    def check(setting):
        run = checkpoint_runs.Run(setting, "killed", MODEL, {"dp": 2, "stage": 3}, checkpoint={"every": 2})
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
    run = checkpoint_runs.Run(setting, "asked", MODEL, {})
    code, _ = run.program.interrupt_when(lambda _: (run.program.folder / "run.jsonl").exists() and len(run.program.log()) > 3, send=signal.SIGTERM)
    steps = len(run.program.log())
    folder = checkpoint_files.newest(run.checkpoints).name
    if (code, folder) != (-signal.SIGTERM, f"step-{steps:08}"):
        yield f"SIGTERM after {steps} steps: exit {code}, the newest is {folder}"
    count = 500  # of steps: the folder is looked at once per second
    run.train(count, tag="whole")
    for ask in (lambda process: process.send_signal(signal.SIGUSR1), lambda process: (run.checkpoints / "checkpoint-now").touch()):
        shutil.rmtree(run.checkpoints)
        log = run.program.folder / "asked.jsonl"
        log.unlink(missing_ok=True)
        command = [str(word) for word in (run.program.path, "--steps", count, "--log", log, "--save", run.program.folder / "asked.safetensors")]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            wait_for(lambda: log.exists() and log.stat().st_size > 1000, process)
            ask(process)
            process.wait(timeout=120)
        written = sorted(path.name for path in run.checkpoints.iterdir() if path.is_dir())
        if len(written) != 2 or (run.checkpoints / "checkpoint-now").exists():
            yield f"asked for one, there are {written}"
        if run.saved("whole") != run.saved("asked"):
            yield "a run that was asked for a checkpoint ends otherwise"
    shutil.rmtree(run.checkpoints)
    run.checkpoints.mkdir()
    (run.checkpoints / "checkpoint-now").touch()
    run.train(1, tag="short")  # ends before it looks into the folder
    if (run.checkpoints / "checkpoint-now").exists():
        yield "the request remains after the last checkpoint"


def some_stay(setting):
    """Which are there after 50 steps; and a second run in the folder ends before it touches anything."""
    run = checkpoint_runs.Run(setting, "retention", MODEL, {"dp": 2}, checkpoint={"every": 5, "keep": 2, "keep_every": 10})
    run.train(50)
    names = sorted(path.name for path in run.checkpoints.iterdir())
    if names != ["lock"] + [f"step-{step:08}" for step in (10, 20, 30, 40, 45, 50)]:
        yield f"there are {names}"
    command = [str(run.program.path), "--steps", "1000000", "--log", str(run.program.folder / "first.jsonl")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_for(lambda: (run.program.folder / "first.jsonl").exists() and (run.program.folder / "first.jsonl").stat().st_size > 0, process)
        said = run.train(1, tag="second", expect=1)
        process.kill()
    if "another run is writing to it" not in said:
        yield f"a second run in the folder said: {said}"


def is_full(setting):
    """A small file system: one line names file and reason, training continues, the older checkpoint verifies."""
    if os.geteuid():
        raise promises.Skipped("mounting needs root")
    run = checkpoint_runs.Run(setting, "full", MODEL, {"dp": 2, "stage": 1}, checkpoint={"dir": setting.scratch / "full" / "disk" / "ck", "every": 5, "keep": 0})
    disk = run.program.folder / "disk"
    disk.mkdir()
    try:
        program.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", disk])
    except program.CommandFailed as problem:
        raise promises.Skipped("no file system can be mounted") from problem
    try:
        said = run.train(20, expect=1)
        left = sorted(path.name for path in (disk / "ck").iterdir() if path.is_dir())
        if said.count("No space left on device") != said.count("training continues") or "warning: the checkpoint of step" not in said:
            yield f"a full disk: {said[-600:]}"
        if not left or left[0] != "step-00000005":
            yield f"on the full disk is {left}"
        for name in left:
            checkpoint_files.read(disk / "ck" / name)
    finally:
        program.run(["umount", disk])


def list_checks(all_of_them):
    checks = checkpoint_pairs.list_checks(all_of_them) + checkpoint_resumes.list_checks(all_of_them)
    return checks + [("checkpoints: killed at random", is_killed_at_random(*((100, 300) if all_of_them else (6, 60)))),
                     ("checkpoints: signals and files", signals_ask_for_one), ("checkpoints: retention", some_stay), ("checkpoints: a full disk", is_full)]
