"""Whichever call of a library fails in two steps on simulated GPUs, or in six of which the last four are graphs, with registered memory where
there are several ranks: one message that names it, and exit 1 before the first step or 5; all end, and nothing is left. One that fails
while a step is captured only ends the capture. What cannot be given back at the end is left to the driver, or to NCCL.

Ranks are threads of one process, or processes as a launcher starts them, one of which has the call. Calls are counted rank by rank: so
the number of a call means the same in every run.
"""

import dataclasses
import itertools
import os
import random
import re
import select
import signal
import subprocess
import time

import gpus
import processes
import program

STEPS = 2  # without graphs
OTHERS_HAVE = 5  # seconds, from the call that fails until nobody is left
BUDGET = 90 * 60  # seconds for the calls of a program with --all: those that are left out then are counted
NO_DEVICE = -1  # of calls before a thread has one
# Functions whose failing nobody can do anything about.
GIVE_BACK = "Destroy|Deregister|Release|Unmap|AddressFree|FreeHost|Unload|Abort|GetErrorName|GetErrorString|GetStatusString"
WAITS_AT_THE_END = ("cuStreamSynchronize", "cuCtxSetCurrent")  # when the device is given up
IMAGES = ("cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction")  # the next one is taken
CHIPS = 4  # that there may be images for
WHERES = {5: r"error: (rank \d+, |after the last step: ).*", 1: r"error: (this machine's GPU cannot be used: |cuBLASLt |NCCL ).*"}
SAID_AS = {"cublasLtGetVersion": "cuBLASLt has version 0"}  # which has no status


@dataclasses.dataclass
class Ended:
    codes: list
    said: str
    seconds: float = 0  # since a call has failed

    def __str__(self):
        return f"{self.codes} after {self.seconds:.1f} s: {self.said}"


class Job:
    """A program, and how its ranks are started."""

    def __init__(self, simulated, ranks=1, launched=False, graphs=False):
        self.simulated, self.ranks, self.launched = simulated, ranks, launched
        self.options = ("--steps", gpus.GRAPH_STEPS, "--graph", "on") if graphs else ("--steps", STEPS)
        self.options += ("--register-buffers",) * (graphs and ranks > 1) + ("--threads",) * (not launched)
        self.folder = simulated.program.folder
        self.saved = self.folder / "ended.safetensors"
        (self.folder / "tmp").mkdir()
        self.files = self.list_files()
        begin = time.monotonic()
        self.counts = self.count()
        self.patience = time.monotonic() - begin + 30
        self.sound = self.saved.read_bytes()

    def count(self):
        """Calls in a run in which none fails, by rank."""
        ended = self.run(None, 300, XLC_SIMULATE_COUNT=1)
        if any(ended.codes):
            raise program.CommandFailed(str(ended))
        counts = {}
        for total, by_device in re.findall(r"simulated device: (\d+) calls(.*)", ended.said):
            own = {int(device): int(calls) for calls, device in re.findall(r"(\d+) of (-?\d+)", by_device)}
            counts |= {max(own): int(total)} if self.launched else own
        return counts

    def environments(self, of, variables):
        """Of each process, where `variables` are for one rank; None: for all."""
        common = {**os.environ, **self.simulated.variables("early", XLC_SIMULATE_DEVICES=8, TMPDIR=self.folder / "tmp")}
        if not self.launched:
            return [{**common, **variables, **({} if of is None else {"XLC_SIMULATE_OF": of})}]
        port = next(processes.PORTS)
        return [{**common, **processes.torchrun_variables(rank, self.ranks, port), **(variables if of in (rank, None) else {})}
                for rank in range(self.ranks)]

    def run(self, of, patience, **variables):
        """Reads what all say until nobody is left who could say more."""
        self.saved.unlink(missing_ok=True)
        words = [str(word) for word in (self.simulated.program.path, *self.options, "--save", self.saved)]
        reader, writer = os.pipe()
        started = [subprocess.Popen(words, stdout=writer, stderr=writer, start_new_session=True,
                                    env={name: str(value) for name, value in own.items()})
                   for own in self.environments(of, variables)]
        os.close(writer)
        said, failed, deadline = b"", None, time.monotonic() + patience
        while select.select([reader], [], [], max(0, deadline - time.monotonic()))[0]:
            piece = os.read(reader, 1 << 16)
            if not piece:
                break
            said += piece
            if failed is None and b" fails\n" in said:
                failed = time.monotonic()
        else:
            said += b"it did not end"
            for process in started:
                os.killpg(process.pid, signal.SIGKILL)
        os.close(reader)
        codes = [process.wait() for process in started]
        return Ended(codes, said.decode(), time.monotonic() - failed if failed else 0)

    def fail(self, of, number):
        return self.run(of, self.patience, XLC_SIMULATE_FAIL=number)

    def list_files(self):
        return {path for path in self.folder.rglob("*") if path != self.saved}


def complain(job, ended):
    """What is wrong with a run in which a call has failed."""
    failing = re.search(r"simulated: (\w+) fails", ended.said)
    if not failing:
        return "no call has failed"
    function, code = failing[1], ended.codes[0]
    if any(other != code for other in ended.codes) or code not in (0, *WHERES) or ended.said.count("error: ") != (code != 0):
        return "ends otherwise than with one message"
    if left := job.list_files() - job.files:
        return f"leaves files: {left}"
    if "simulated device: " in ended.said:
        return "leaves something on a device"
    if code == 0:
        may_go_on = re.search(GIVE_BACK, function) or function in IMAGES + WAITS_AT_THE_END or ended.said.count(gpus.NO_GRAPH) == 1
        return None if may_go_on and job.saved.read_bytes() == job.sound else "goes on"
    if not re.search(WHERES[code], ended.said) or SAID_AS.get(function, function) not in ended.said.split("error: ")[1]:
        return f"does not name {function}"
    if ended.seconds > OTHERS_HAVE:
        return "ends late"
    return "saves parameters" if job.saved.exists() else None


@dataclasses.dataclass
class Trial:
    of: int
    number: int
    ended: Ended

    @property
    def function(self):
        return "".join(re.findall(r"simulated: (\w+) fails", self.ended.said)[:1])

    @property
    def goes_on(self):
        return not any(self.ended.codes)


def fail_calls(name, job, turns):
    """Complaints about runs in which one call fails, of so many that are tried, or of as many as there is time for if that is None."""
    calls = [(of, number + 1) for of, count in job.counts.items() for number in range(count)]
    random.Random(7).shuffle(calls)
    begin, trials = time.monotonic(), []
    for of, number in calls[:turns]:
        if turns is None and time.monotonic() - begin > BUDGET:
            break
        trials.append(Trial(of, number, job.fail(of, number)))
        if problem := complain(job, trials[-1].ended):
            yield f"call {number} of {job.counts[of]} of rank {of} {problem}: {trials[-1].ended}"
    yield from complain_of_going_on(job, [trial for trial in trials if trial.goes_on], [trial for trial in trials if not trial.goes_on])
    if left := processes.find_left(job.simulated.program):
        yield f"processes are left: {left}"
    print(f"     {name}: {len(trials)} of {len(calls)} calls have failed, of {len({trial.function for trial in trials})} functions, in "
          f"{time.monotonic() - begin:.0f} s", flush=True)


def complain_of_going_on(job, going_on, ended):
    """Each device has so many images to try, and waits in vain only when no call comes any more that could end the job."""
    refused = sum(trial.function in IMAGES for trial in going_on)
    if refused > CHIPS * job.ranks * len(IMAGES):
        yield f"{refused} images were refused, and others taken"
    for trial in going_on:
        if trial.function in WAITS_AT_THE_END and any(other.of == trial.of and other.number > trial.number for other in ended):
            yield f"call {trial.number} of rank {trial.of} goes on, and is not among the last: {trial.ended}"


def killed_ranks_end_the_job(setting, everything):
    """kill -9 of a rank that others wait for: they end with its last action, and within five seconds."""
    simulated = gpus.Simulated(setting, "killed", MLP, {"dp": 2, "stage": 2})
    for rank in (0, 1) * (10 if everything else 1):
        process = processes.start(simulated.program, variables=simulated.variables(XLC_SIMULATE_DEVICES=2))
        os.kill(processes.children_of(process.pid)[rank], signal.SIGKILL)
        code, said, seconds = processes.end(process)
        if code != 5 or seconds > OTHERS_HAVE or not re.fullmatch(f"error: rank {rank}, step .* killed by signal 9.*\n", said):
            yield f"rank {rank} was killed: {code} after {seconds:.1f} s: {said}"
    if not processes.wait_until(lambda: not processes.find_left(simulated.program), OTHERS_HAVE):
        yield f"processes are left: {processes.find_left(simulated.program)}"


MLP = ("mlp", "logits", "sgd")
DP = {"dp": 2, "stage": 2}
# Name, model, layout, whether steps are graphs, and how many calls fail without --all.
PROGRAMS = [("", MLP, {}, False, 40), ("graphs", MLP, {}, True, 20), ("dp 2", MLP, DP, False, 12), ("dp 2, graphs", MLP, DP, True, 8),
            ("dp 2, pp 2, tp 2", MLP, gpus.PARALLEL, False, 12)]


def list_checks(everything):
    def check(setting, name, entry, launched):
        _, model, layout, graphs, turns = entry
        ranks = layout.get("dp", 1) * layout.get("pp", 1) * layout.get("tp", 1)
        simulated = gpus.Simulated(setting, "failing", model, layout)
        yield from fail_calls(name, Job(simulated, ranks, launched, graphs), None if everything else turns)

    found = []
    for entry, launched in itertools.product(PROGRAMS, (False, True)):
        if launched and not entry[2]:
            continue
        name = ("gpu: a failing call " + "of several " * bool(entry[2]) + "ends the job" + f": {entry[0]}" * bool(entry[0])
                + ", as processes" * launched)
        found.append((name, lambda setting, all_of=(name, entry, launched): check(setting, *all_of)))
    return [*found, ("gpu: a killed rank ends the job", lambda setting: killed_ranks_end_the_job(setting, everything))]
