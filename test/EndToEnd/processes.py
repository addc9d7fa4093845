"""Ranks that are processes: the program's own (--processes), or a launcher's on one host. The same bits, the planned
bytes, and an orderly end whatever happens to one of them; no process or file remains.

A launcher is simulated by starting each rank with the variables that torchrun sets; mpirun is run where it is
installed.
"""

import itertools
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

import cases
import compare
import program
import promises

MPIRUN = shutil.which("mpirun")
PORTS = itertools.count(1)  # one for each job that is started as torchrun would
SESSIONS = tempfile.TemporaryDirectory(prefix="mpi-")  # of all calls of mpirun


def torchrun_variables(rank, world, port, local=None):
    return {"RANK": rank, "WORLD_SIZE": world, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": local or world,
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": f"xlc-{os.getpid()}"}


class Ranks:
    """Processes of one job, each with variables of its own."""

    def __init__(self, commands, variables):
        self.all = [subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                     env={**os.environ, **{name: str(value) for name, value in own.items()}})
                    for command, own in zip(commands, variables)]

    def end(self, timeout=60):
        """(exit codes, what each showed, what all said, seconds)"""
        begin = time.monotonic()
        outputs = []
        for process in self.all:
            try:
                outputs.append(process.communicate(timeout=timeout))
            except subprocess.TimeoutExpired:
                for other in self.all:
                    other.kill()
                outputs.append(process.communicate())
        return ([process.returncode for process in self.all], [shown for shown, _ in outputs],
                "".join(said for _, said in outputs), time.monotonic() - begin)


def launch(command, world):
    """Starts `world` processes of a command as torchrun would."""
    port = next(PORTS)
    return Ranks([command] * world, [torchrun_variables(rank, world, port) for rank in range(world)])


def mpirun(count, *options):
    """Each call has its own session folder: Open MPI can fail to create a common one when two calls start or end at the same time."""
    folder = tempfile.mkdtemp(dir=SESSIONS.name)
    return [MPIRUN, *["--allow-run-as-root"] * (os.geteuid() == 0), "--oversubscribe", "--mca", "orte_tmpdir_base", folder, "-np", count, *options]


def arguments(trained, tag, steps):
    return ["--steps", steps, "--log", trained.folder / f"{tag}.jsonl", "--save", trained.folder / f"{tag}.safetensors",
            "--stats", trained.folder / f"{tag}.stats"]


def train_in(way, trained, world, steps, *options):
    """Trains in a way, under a tag of its name. Complaints about how it ended."""
    command = [trained.path, *arguments(trained, way, steps), *options]
    if way == "launched":
        codes, shown, said, _ = launch(command, world).end()
        if any(codes) or said:
            yield f"ranks ended with {codes}: {said[-600:]}"
        if shown[0].count("\n") != steps or any(shown[1:]):
            yield f"ranks showed {[text.count(chr(10)) for text in shown]} lines"
    elif way == "mpirun":
        program.run(mpirun(world, "--bind-to", "none") + command)
    else:
        program.run(command + ["--processes"] * (way == "processes"))


LAYOUTS = [(dict(dp=4, stage=3, micro_batches=2), "fp32"), (dict(dp=4, stage=2, shard=2), "bf16"),
           (dict(dp=1, stage=0, pp=2, tp=2, micro_batches=4, schedule="zb-v"), "fp32"), (promises.COMPOSED, "fp16")]


def same_bits_as_threads(setting, everything):
    """All ways on a few layouts, or on the covering array."""
    chosen = [(cases.Case(*promises.GPT, **layout), precision) for layout, precision in LAYOUTS]
    chosen += [(case, precision) for case, precision, _ in cases.list_precise_cases() * everything]
    for case, precision in chosen:
        name, world = f"{case} in {precision}", case.dp * case.pp * case.tp
        trained = program.Program.of_case(setting, case, program.read_trace(setting, case), f"ways-{len(name)}",
                                          precision=cases.PRECISIONS[precision])
        list(train_in("threads", trained, world, 5))
        for way in ("processes", "launched", "mpirun")[:3 if MPIRUN else 2]:
            yield from (f"{name}, {way}: {complaint}" for complaint in train_in(way, trained, world, 5))
            if trained.bits(way) != trained.bits("threads"):
                yield f"{name}: other bits in {way} than in threads"
            yield from (f"{name}, {way}: {complaint}" for complaint in compare.compare_stats(trained.stats(way)))
        trained.train(5, "--processes", "--overlap", "threads", tag="overlapped")
        if trained.bits("overlapped") != trained.bits("threads"):
            yield f"{name}: other bits in processes with streams on threads"
        shutil.rmtree(trained.folder)


def children_of(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def state_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None


def find_left(trained):
    """Processes of a program, whoever started them."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "exe") == str(trained.path):
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def is_running(trained, tag, lines=2):
    log = trained.folder / f"{tag}.jsonl"
    return log.exists() and log.read_text().count("\n") >= lines


def wait_until(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def start(trained, *options, tag="run", variables=None):
    """A run without end, once it has shown two steps."""
    (trained.folder / f"{tag}.jsonl").unlink(missing_ok=True)
    process = subprocess.Popen([str(word) for word in [trained.path, *arguments(trained, tag, 10 ** 8), "--processes", *options]],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **{name: str(value) for name, value in (variables or {}).items()}})
    wait_until(lambda: is_running(trained, tag))
    return process


def end(process):
    """(exit code, what it said, seconds) once it has ended by itself."""
    begin = time.monotonic()
    try:
        said = process.communicate(timeout=20)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        said = process.communicate()[1] + "it did not end"
    return process.returncode, said, time.monotonic() - begin


def killed_processes_end_the_job(setting, everything):
    """kill -9 of a random rank, of the starter, and of all, at random moments: the others end with 5 within five seconds."""
    trained = promises.make(setting, "killed", dp=2, stage=3, pp=2, micro_batches=2)
    draw = random.Random(11)
    for number in range(50 if everything else 3):
        process = start(trained)
        time.sleep(draw.random() * 0.3)
        rank = draw.randrange(4)
        os.kill(children_of(process.pid)[rank], signal.SIGKILL)
        code, said, seconds = end(process)
        if code != 5 or seconds > 5 or said.count("error: ") != 1 or f"rank {rank}, step " not in said or "killed by signal 9" not in said:
            yield f"kill {number} of rank {rank}: {code} after {seconds:.1f} s: {said}"
    process = start(trained)
    children = children_of(process.pid)
    process.kill()
    _, said, _ = end(process)
    if not wait_until(lambda: not any(map(state_of, children)), 5) or said.count("the process that started the ranks has ended") != 1:
        yield f"the starter was killed: {[state_of(child) for child in children]} {said}"
    process = start(trained)
    for child in [*children_of(process.pid), process.pid]:
        os.kill(child, signal.SIGKILL)
    end(process)
    if not wait_until(lambda: not find_left(trained), 5):
        yield f"all were killed: {find_left(trained)} are left"


def killed_ranks_of_launchers_end_the_job(setting, everything):
    trained = promises.make(setting, "killed-launched", dp=2, stage=3)
    log = trained.folder / "run.jsonl"
    command = [trained.path, *arguments(trained, "run", 10 ** 8)]
    for rank in (0, 1) * (10 if everything else 1):
        log.unlink(missing_ok=True)
        ranks = launch(command, 2)
        wait_until(lambda: is_running(trained, "run"))
        ranks.all[rank].kill()
        codes, _, said, seconds = ranks.end()
        if codes[1 - rank] != 5 or seconds > 5 or said.count("error: ") != 1 or f"rank {rank}, step " not in said or "its process has ended" not in said:
            yield f"rank {rank} was killed: {codes} after {seconds:.1f} s: {said}"
    for rank in (0, 1) * bool(MPIRUN):
        log.unlink(missing_ok=True)
        process = subprocess.Popen(list(map(str, mpirun(2) + command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: is_running(trained, "run"))
        os.kill(sorted(find_left(trained))[rank], signal.SIGKILL)
        code, said, seconds = end(process)
        if code == 0 or seconds > 10 or find_left(trained):
            yield f"mpirun, a rank was killed: {code} after {seconds:.1f} s, {find_left(trained)} are left: {said[-300:]}"


def a_fault_is_said_once_in_all_ways(setting, everything):
    """With the action, within a second, exit 5; mpirun passes it on."""
    trained = promises.make(setting, "fault-ways", dp=2, stage=0, pp=2, micro_batches=2)
    options = ["--steps", "1000", "--inject-fault", "3:3:update"]
    for rank in range(4) if everything else (3,):
        options[-1] = f"{rank}:3:begin"
        expected = f"error: rank {rank}, step 3, action 'begin'"
        for way in (["--processes"], None):
            begin = time.monotonic()
            if way:
                done = subprocess.run([str(trained.path), *options, *way], capture_output=True, text=True, timeout=60, check=False)
                codes, said = [done.returncode], done.stderr
            else:
                codes, _, said, _ = launch([trained.path, *options], 4).end()
            if set(codes) != {5} or said.count("error: ") != 1 or expected not in said or time.monotonic() - begin > 3:
                yield f"{way or 'launched'}: {codes} after {time.monotonic() - begin:.1f} s: {said}"
        if MPIRUN:
            done = subprocess.run(list(map(str, mpirun(4) + [trained.path, *options])), capture_output=True, text=True, timeout=60, check=False)
            if done.returncode != 5 or done.stderr.count("error: ") != 1 or expected not in done.stderr:
                yield f"mpirun: {done.returncode}: {done.stderr}"


def a_rank_that_hangs_is_named(setting, everything):
    trained = promises.make(setting, "hangs", dp=4, stage=3)
    for rank in range(4) if everything else (2,):
        process = start(trained, "--timeout", "1")
        stopped = children_of(process.pid)[rank]
        os.kill(stopped, signal.SIGSTOP)
        code, said, seconds = end(process)
        if code != 5 or said.count("error: ") != 1 or f"error: rank {rank}, step " not in said or "; waiting: rank " not in said:
            yield f"rank {rank} was stopped: {code} after {seconds:.1f} s: {said}"
        if state_of(stopped):
            yield f"rank {rank}, which was stopped, is left"


def what_goes_on_is_not_taken_for_hanging(setting, everything):
    """A job that is stopped whole and goes on; one with sixteen threads on one core; and --timeout 0."""
    trained = promises.make(setting, "goes-on", dp=4, stage=3, runtime={"threads_per_rank": 4})
    process = start(trained, "--timeout", "0.5")
    everybody = [process.pid, *children_of(process.pid)]
    for again in range(3 if everything else 1):
        for sent in (signal.SIGSTOP, signal.SIGCONT):
            for pid in everybody:
                os.kill(pid, sent)
            time.sleep(1.5)
    process.send_signal(signal.SIGTERM)
    code, said, _ = end(process)
    if code != -signal.SIGTERM or "error" in said:
        yield f"stopped and continued: {code}: {said}"
    done = subprocess.run(["taskset", "-c", "0", str(trained.path), "--processes", "--steps", "20", "--timeout", "1"],
                          capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        yield f"sixteen threads on one core: {done.returncode}: {done.stderr}"
    process = start(trained, "--timeout", "0")
    stopped = children_of(process.pid)[1]
    os.kill(stopped, signal.SIGSTOP)
    time.sleep(2)
    if process.poll() is not None:
        yield f"--timeout 0: {process.returncode}: {process.stderr.read()}"
    os.kill(stopped, signal.SIGCONT)
    process.send_signal(signal.SIGTERM)
    if (code := end(process)[0]) != -signal.SIGTERM:
        yield f"--timeout 0, continued: {code}"


def signals_end_all_after_the_step(setting, everything):
    """Whichever process gets it, the starter or a rank: what was learned is saved, and shells see the signal."""
    trained = promises.make(setting, "signalled", dp=2, stage=2)
    for target in ("starter", "a rank") * (2 if everything else 1):
        process = start(trained)
        os.kill(process.pid if target == "starter" else children_of(process.pid)[1], signal.SIGINT)
        code, said, seconds = end(process)
        steps, saved = len(trained.log()), trained.bits()[1]
        if code != -signal.SIGINT or seconds > 5 or f"stopped after step {steps}, saves " not in said:
            yield f"{target}: {code} after {seconds:.1f} s: {said}"
        trained.train(steps)
        if trained.bits()[1] != saved:
            yield f"{target}: what was saved after {steps} steps is not what {steps} steps give"
    (trained.folder / "run.jsonl").unlink()
    ranks = launch([trained.path, *arguments(trained, "run", 10 ** 8)], 2)
    wait_until(lambda: is_running(trained, "run"))
    ranks.all[1].send_signal(signal.SIGTERM)
    codes, _, said, _ = ranks.end()
    if codes != [-signal.SIGTERM] * 2 or said.count("stopped after step") != 1:
        yield f"a launcher's rank: {codes}: {said}"


def nothing_is_left(setting, everything):
    """No process, no name in /dev/shm or of a socket, no temporary file, however often."""
    trained = promises.make(setting, "left", dp=2, stage=3)

    def list_names():
        names = {line.split()[-1] for line in pathlib.Path("/proc/net/unix").read_text().splitlines() if "@xlc-" in line}
        return names | {f"/dev/shm/{name}" for name in os.listdir("/dev/shm")}
    before = list_names()
    for _ in range(200 if everything else 5):
        list(train_in("processes", trained, 2, 1))
        yield from train_in("launched", trained, 2, 1)
    process = start(trained)
    os.kill(children_of(process.pid)[0], signal.SIGKILL)
    end(process)
    if not wait_until(lambda: list_names() <= before and not find_left(trained), 5):  # others may have jobs too
        yield f"names {list_names() - before}, processes {find_left(trained)}"
    left = {path.name for path in trained.folder.iterdir()}
    ways = {f"{way}.{kind}" for way in ("processes", "launched", "run") for kind in ("jsonl", "safetensors", "stats")}
    if not left <= ways | {"spec.yaml", "train", "train.safetensors"}:
        yield f"files: {left - ways}"


def threads_on_too_few_cores_are_warned_of(setting, _):
    if not MPIRUN:
        raise promises.Skipped("there is no mpirun")
    if os.cpu_count() < 2:
        raise promises.Skipped("there is one core")
    trained = promises.make(setting, "bound", dp=2, runtime={"threads_per_rank": 2})
    said = program.run(mpirun(2, "--bind-to", "core") + [trained.path, "--steps", "1"])
    if said.count("has 2 threads, but only 1 core: use 'mpirun --bind-to none' to allow each process all cores") != 1:
        yield said
    if "warning" in (said := program.run(mpirun(2, "--bind-to", "none") + [trained.path, "--steps", "1"])):
        yield said


def wrong_launches_are_refused(setting, _):
    """Each with one message and exit 1, and within its time."""
    path = promises.make(setting, "wrong", dp=2, stage=3).path
    other = promises.make(setting, "wrong-other", dp=2, stage=2).path
    same = shutil.copy(path, path.parent / "same")  # the plan, and one byte more
    shutil.copy(f"{path}.safetensors", f"{same}.safetensors")
    with open(same, "ab") as file:
        file.write(b"x")
    few = ["--steps", "2", "--timeout", "1"]
    plain = [path, *few]

    def variables(rank, world=2, local=None, **changes):
        own = {**torchrun_variables(rank, world, port, local), **changes}
        return {name: value for name, value in own.items() if value is not None}
    for words, jobs in [
            ("error: torchrun has started 3 processes (WORLD_SIZE=3), but the plan has 2 ranks: start 2, or compile for 3",
             lambda: [(plain, variables(rank, 3)) for rank in range(3)]),
            ("error: WORLD_SIZE is set, but RANK is not", lambda: [(plain, variables(rank, RANK=None)) for rank in range(2)]),
            ("error: RANK is set, but WORLD_SIZE is not", lambda: [(plain, variables(rank, WORLD_SIZE=None)) for rank in range(2)]),
            ("error: RANK is 'one', which is not an integer >= 0", lambda: [(plain, variables("one"))] * 2),
            ("error: WORLD_SIZE is '2x', which is not an integer >= 0", lambda: [(plain, variables(rank, "2x")) for rank in range(2)]),
            ("error: RANK is 2, but WORLD_SIZE is 2: ranks are 0 to 1", lambda: [(plain, variables(2))]),
            ("error: there are two processes with rank 0", lambda: [(plain, variables(0))] * 2),
            ("error: rank 1 did not join within 1 s (--timeout)", lambda: [(plain, variables(0))]),
            ("error: rank 0 did not join within 1 s (--timeout)", lambda: [(plain, variables(1))] * 2),
            ("error: rank 1 and rank 0 were started with different plans",
             lambda: [(plain, variables(0)), ([other, *few], variables(1))]),
            ("error: rank 1 and rank 0 were started with different programs of the same plan",
             lambda: [(plain, variables(0)), ([same, *few], variables(1))]),
            ("error: rank 1 and rank 0 were started with different options",
             lambda: [(plain, variables(0)), ([*plain, "--lr", "1"], variables(1))]),
            ("error: torchrun has started processes on several hosts (LOCAL_WORLD_SIZE=1 of WORLD_SIZE=2), which requires MPI: "
             "start them with mpirun or srun", lambda: [(plain, variables(rank, local=1)) for rank in range(2)]),
            ("error: torchrun has started 2 processes (WORLD_SIZE=2), and --processes would start 2 more in each of them: omit --processes or the launcher",
             lambda: [([*plain, "--processes"], variables(rank)) for rank in range(2)]),
            ("no/such: error: cannot be read", lambda: [([*plain, "--init", "no/such"], variables(rank)) for rank in range(2)]),
            ("no/such: error: cannot be written", lambda: [([*plain, "--save", "no/such"], variables(rank)) for rank in range(2)]),
    ]:
        port = next(PORTS)
        ranks = Ranks(*zip(*jobs()))
        codes, shown, said, seconds = ranks.end(20)
        if set(codes) != {1} or any(shown) or said.count("error: ") != 1 or words not in said or seconds > 6:
            yield f"'{words}' was expected, within 6 s: {codes} after {seconds:.1f} s: {''.join(shown)}{said}"


# Those that mostly wait run beside other cases; those that say how soon a job ends, or look for what it leaves, run alone.
BESIDE = (same_bits_as_threads, wrong_launches_are_refused)
WAITING = (killed_processes_end_the_job, killed_ranks_of_launchers_end_the_job, a_fault_is_said_once_in_all_ways,
           a_rank_that_hangs_is_named, what_goes_on_is_not_taken_for_hanging, signals_end_all_after_the_step, nothing_is_left,
           threads_on_too_few_cores_are_warned_of)
ALONE = ()


def list_checks(checks, everything):
    """(name, check): few moments and layouts, or all of them."""
    return [(f"processes: {check.__name__.replace('_', ' ')}", lambda setting, check=check: check(setting, everything))
            for check in checks]
