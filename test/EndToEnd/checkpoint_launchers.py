"""Runs that their launcher restarts until they have ended, after one of their ranks was killed."""

import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import checkpoint_files
import checkpoint_runs
import processes

ELASTIC = pathlib.Path(__file__).parent / "elastic.py"  # plays torchrun
KILLS, STEPS, RANKS = 3, 60, 2
WAYS = ("torchrun", "processes", "mpirun")


def run_of(setting, way):
    """A program, and its command in a way."""
    run = checkpoint_runs.Run(setting, way, checkpoint_runs.GPT, {"dp": RANKS, "stage": 3}, way if way == "mpirun" else "threads", checkpoint={"every": 4})
    run.options = ("--processes",) * (way == "processes")
    return run


def command_of(run, way, steps):
    before = [sys.executable, ELASTIC, RANKS, KILLS] if way == "torchrun" else []
    return [str(word) for word in (*before, *run.command(steps, "--resume", "auto", tag="parts"))]


def steps_of(run):
    log = run.program.folder / "parts.jsonl"
    return log.read_text().count("\n") if log.exists() else 0


def wait_for_step(run, process, step):
    deadline = time.monotonic() + 120
    while steps_of(run) < step and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)


def kill_a_rank(run, process, dice):
    """Of all that run the program, but for the process that has started them."""
    ranks = [pid for pid in processes.find_left(run.program) if pid != process.pid]
    if ranks:
        with contextlib.suppress(ProcessLookupError):
            os.kill(dice.choice(ranks), signal.SIGKILL)
            return True
    return False


def restarts(way):
    """A rank is killed three times, at steps by chance: the run ends with the bits of one that nobody has disturbed."""
    def check(setting):
        run = run_of(setting, way)
        run.train(STEPS, tag="whole")
        shutil.rmtree(run.checkpoints)
        dice, kills, starts, said = random.Random(3), 0, 0, ""
        while starts <= KILLS:
            starts += 1
            with subprocess.Popen(command_of(run, way, STEPS), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
                for kill in range(kills, KILLS if way == "torchrun" else min(kills + 1, KILLS)):
                    wait_for_step(run, process, dice.randrange(kill * STEPS // KILLS + 4, (kill + 1) * STEPS // KILLS - 4))
                    kills += kill_a_rank(run, process, dice)
                    # Lines of steps that are done again are taken out of the log.
                    time.sleep(0.3 if way == "torchrun" else 0)
                said += process.communicate(timeout=300)[0]
            if not process.returncode:
                break
        if process.returncode or kills != KILLS or said.count("resumes ") != KILLS:
            yield f"{kills} ranks were killed, {starts} starts, the last ended with {process.returncode}: {said[-1500:]}"
        yield from checkpoint_runs.differences(run, "parts")
    return check


def a_launcher_is_asked_to_end(setting):
    """SIGTERM to what plays torchrun: the ranks end with it, after a checkpoint of their last step."""
    run = run_of(setting, "torchrun")
    with subprocess.Popen(command_of(run, "torchrun", 10 ** 6), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        wait_for_step(run, process, 6)
        process.terminate()
        said = process.communicate(timeout=60)[0]
    codes = re.findall(r"generation (\d+): (.*)", said)
    if codes != [("0", str([-signal.SIGTERM] * RANKS))] or process.returncode != 128 + signal.SIGTERM:
        yield f"ranks ended with {codes}, what has started them with {process.returncode}: {said[-600:]}"
    newest = checkpoint_files.newest(run.checkpoints).name
    if newest != f"step-{steps_of(run):08}":
        yield f"{steps_of(run)} steps, and the newest checkpoint is {newest}"


def list_checks(all_of_them):
    ways = WAYS if all_of_them else WAYS[:1]
    return [(f"checkpoints: a rank is killed, {way}", restarts(way)) for way in ways] + [("checkpoints: a launcher is asked to end", a_launcher_is_asked_to_end)]
