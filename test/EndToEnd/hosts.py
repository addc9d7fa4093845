"""Ranks on several hosts, which meet through Open MPI: the same bits as threads, the planned bytes, and an orderly end
whatever happens to one of them.

Hosts are played in two ways: on one host, whose processes are told that others are elsewhere, as any user can; and in
network namespaces with a host name each, into which mpirun starts its daemon, which needs root.
"""

import concurrent.futures
import contextlib
import itertools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

import cases
import compare
import gpus
import processes
import program
import promises

ONE_HOST = ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"]  # no shared memory between ranks


def need_mpirun():
    if not processes.MPIRUN:
        raise promises.Skipped("there is no mpirun")


def claim(count, command, *others, local=1, **variables):
    """The command on so many ranks, each of which believes that `local` of them are on its host; and each of `others` on one."""
    told = ["env", f"OMPI_COMM_WORLD_LOCAL_SIZE={local}", *(f"{name}={value}" for name, value in variables.items())]
    words = processes.mpirun(count, "--bind-to", "none", *ONE_HOST) + told + command
    for other in others:
        words += [":", "-np", 1, *told, *other]
    return [str(word) for word in words]


class Namespaces(contextlib.AbstractContextManager):
    """Hosts on this machine: network namespaces on one bridge, a host name each."""

    NUMBERS = itertools.count()
    AGENT = '#!/bin/sh\nhost=$1; shift\nexec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"\n'

    def __init__(self, folder, count):
        need_mpirun()
        if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("unshare"):
            raise promises.Skipped("network namespaces need root, ip and unshare")
        self.names = [f"xlc{os.getpid() % 10000}-{next(self.NUMBERS)}{letter}" for letter in "abcd"[:count]]
        self.agent = folder / "agent"
        self.agent.write_text(self.AGENT)
        self.agent.chmod(0o755)

    def __enter__(self):
        try:
            for name in self.names:
                self.ip("netns", "add", name)
                self.ip("-n", name, "link", "set", "lo", "up")
            first = self.names[0]
            self.ip("-n", first, "link", "add", "bridge", "type", "bridge")
            self.ip("-n", first, "addr", "add", "10.87.0.1/24", "dev", "bridge")
            self.ip("-n", first, "link", "set", "bridge", "up")
            for number, name in enumerate(self.names[1:], 2):
                self.ip("link", "add", f"to{number}", "netns", first, "type", "veth", "peer", "name", "eth", "netns", name)
                self.ip("-n", first, "link", "set", f"to{number}", "master", "bridge", "up")
                self.ip("-n", name, "addr", "add", f"10.87.0.{number}/24", "dev", "eth")
                self.ip("-n", name, "link", "set", "eth", "up")
        except subprocess.CalledProcessError as problem:
            self.__exit__()
            raise promises.Skipped(f"no network namespaces here: {problem.stderr.strip()}") from problem
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def launch(self, count, command):
        """The command on so many ranks, spread evenly; mpirun itself is on the first host."""
        each, more = divmod(count, len(self.names))
        hosts = ",".join(f"{name}:{each + (number < more)}" for number, name in enumerate(self.names))
        started = processes.mpirun(count, "--bind-to", "none", "--mca", "plm_rsh_agent", self.agent, "--host", hosts) + command
        return [str(self.agent), self.names[0], *map(str, started)]


def run(command, timeout=120):
    """(exit code, what it showed, what it said, seconds)"""
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - begin


def compare_with_threads(trained, name, tag, command):
    """Complaints about a run that should give what threads have given."""
    code, shown, said, _ = run(command)
    if code or "rror" in said:
        yield f"{name}, {tag}: {code}: {said[-600:]}"
        return
    if shown.count("\n") != len(trained.log("threads")):
        yield f"{name}, {tag}: {shown.count(chr(10))} lines were shown"
    if trained.bits(tag) != trained.bits("threads"):
        yield f"{name}, {tag}: other bits than in threads"
    yield from (f"{name}, {tag}: {complaint}" for complaint in compare.compare_stats(trained.stats(tag)))


LAYOUTS = [(dict(dp=4, stage=0, micro_batches=2), "fp32"), (dict(dp=4, stage=1), "crossing"), (dict(dp=4, stage=2, shard=2), "bf16"),
           (dict(dp=1, stage=0, pp=2, tp=2, micro_batches=4, schedule="zb-v"), "fp32"), (promises.COMPOSED, "fp16")]


def same_bits_as_threads(setting, everything):
    """A few layouts, or the covering array."""
    need_mpirun()
    chosen = [(cases.Case(*promises.GPT, **layout), precision) for layout, precision in LAYOUTS]
    chosen += [(case, precision) for case, precision, _ in cases.list_precise_cases() * everything]
    for case, precision in chosen:
        name, world = f"{case} in {precision}", case.dp * case.pp * case.tp
        trained = program.Program.of_case(setting, case, program.read_trace(setting, case), f"hosts-{len(name)}",
                                          precision=cases.PRECISIONS[precision])
        program.run([trained.path, *processes.arguments(trained, "threads", 5)])
        ways = {"hosts": [], "overlapped": ["--overlap", "threads"]}
        for tag, more in list(ways.items())[:2 if everything or case.stage == 3 else 1]:
            command = claim(world, [trained.path, *processes.arguments(trained, tag, 5), *more], local=max(1, world // 2))
            yield from compare_with_threads(trained, name, tag, command)
        shutil.rmtree(trained.folder)


def namespaces_are_hosts(setting, everything):
    """mpirun into two namespaces, or into four as well; and then a rank there is killed."""
    trained = promises.make(setting, "namespaces", **promises.COMPOSED)
    world = 8
    program.run([trained.path, *processes.arguments(trained, "threads", 5)])
    for count in (2, 4) if everything else (2,):
        with Namespaces(trained.folder, count) as hosts:
            command = [trained.path, *processes.arguments(trained, "hosts", 5)]
            yield from compare_with_threads(trained, f"{count} namespaces", "hosts", hosts.launch(world, command))
            yield from kill_one(trained, hosts.launch(world, [trained.path, *processes.arguments(trained, "run", 10 ** 8)]), -1)


def layouts_in_namespaces(setting, everything):
    """Two namespaces for all of the covering array, or for one program whose ranks differ in number."""
    chosen = cases.list_precise_cases()
    chosen = chosen if everything else [next(each for each in chosen if each[0].dp * each[0].pp * each[0].tp == 3)]
    for case, precision, _ in chosen:
        name, world = f"{case} in {precision}", case.dp * case.pp * case.tp
        trained = program.Program.of_case(setting, case, program.read_trace(setting, case), f"spread-{len(name)}",
                                          precision=cases.PRECISIONS[precision])
        program.run([trained.path, *processes.arguments(trained, "threads", 5)])
        with Namespaces(trained.folder, 2) as hosts:
            command = [trained.path, *processes.arguments(trained, "hosts", 5)]
            yield from compare_with_threads(trained, f"two namespaces, {name}", "hosts", hosts.launch(world, command))
        shutil.rmtree(trained.folder)


def start(trained, command, lines=2):
    """A run without end, once it has shown two steps."""
    (trained.folder / "run.jsonl").unlink(missing_ok=True)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    processes.wait_until(lambda: processes.is_running(trained, "run", lines))
    return process


def kill_one(trained, command, which):
    process = start(trained, command)
    os.kill(sorted(processes.find_left(trained))[which], signal.SIGKILL)
    code, said, seconds = processes.end(process)
    left = processes.find_left(trained)
    if code == 0 or seconds > 10 or left:
        yield f"a rank was killed: {code} after {seconds:.1f} s, {left} are left: {said[-300:]}"


def killed_ranks_end_the_job(setting, everything):
    need_mpirun()
    trained = promises.make(setting, "hosts-killed", dp=2, stage=3)
    for which in (0, 1) * (10 if everything else 1):
        yield from kill_one(trained, claim(2, [trained.path, *processes.arguments(trained, "run", 10 ** 8)]), which)


def a_fault_is_said_once(setting, everything):
    """By rank 0, whichever fails, within three seconds from the start."""
    need_mpirun()
    trained = promises.make(setting, "hosts-fault", dp=2, stage=0, pp=2, micro_batches=2)
    for rank in range(4) if everything else (0, 3):
        code, _, said, seconds = run(claim(4, [trained.path, "--steps", "1000", "--inject-fault", f"{rank}:3:begin"]))
        if code != 5 or said.count("error: ") != 1 or f"error: rank {rank}, step 3, action 'begin'" not in said or seconds > 5:
            yield f"rank {rank}: {code} after {seconds:.1f} s: {said}"


def a_rank_that_hangs_is_named(setting, everything):
    """Also rank 0, which then cannot say it."""
    need_mpirun()
    trained = promises.make(setting, "hosts-hang", dp=4, stage=3)
    for rank in range(4) if everything else (0, 2):
        process = start(trained, claim(4, [trained.path, *processes.arguments(trained, "run", 10 ** 8), "--timeout", "1"]), lines=20)
        stopped = next(pid for pid in processes.find_left(trained) if rank_of(pid) == rank)
        os.kill(stopped, signal.SIGSTOP)
        code, said, seconds = processes.end(process)
        if code != 5 or said.count("error: ") != 1 or f"error: rank {rank}, step " not in said or "; waiting: rank " not in said:
            yield f"rank {rank} was stopped: {code} after {seconds:.1f} s: {said}"
        if not processes.wait_until(lambda pid=stopped: not processes.state_of(pid), 5):
            yield f"rank {rank}, which was stopped, is left"


def rank_of(pid):
    variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return next(int(text.split(b"=")[1]) for text in variables if text.startswith(b"OMPI_COMM_WORLD_RANK="))


def signals_end_all_after_the_step(setting, _):
    """Whichever rank gets it: what was learned is saved."""
    need_mpirun()
    trained = promises.make(setting, "hosts-signalled", dp=2, stage=2)
    for rank in (0, 1):
        process = start(trained, claim(2, [trained.path, *processes.arguments(trained, "run", 10 ** 8)]))
        os.kill(next(pid for pid in processes.find_left(trained) if rank_of(pid) == rank), signal.SIGINT)
        code, said, seconds = processes.end(process)
        steps, saved = len(trained.log()), trained.bits()[1]
        if code != 128 + signal.SIGINT or seconds > 5 or said.count(f"stopped after step {steps}, saves ") != 1:
            yield f"rank {rank}: {code} after {seconds:.1f} s: {said}"
        trained.train(steps)
        if trained.bits()[1] != saved:
            yield f"rank {rank}: what was saved after {steps} steps is not what {steps} steps give"


def wrong_launches_are_refused(setting, _):
    """Each with one message and exit 1."""
    need_mpirun()
    path = promises.make(setting, "hosts-wrong", dp=2, stage=3).path
    other = promises.make(setting, "hosts-wrong-other", dp=2, stage=2).path
    few = ["--steps", "2", "--timeout", "3"]
    plain = [path, *few]
    no_library = setting.scratch / "no-library"
    no_library.mkdir(exist_ok=True)
    (no_library / "libmpi.so.40").write_text("no library")
    wrong = [
            ("error: mpirun has started 3 processes (OMPI_COMM_WORLD_SIZE=3), but the plan has 2 ranks: start 2, or compile for 3", claim(3, plain)),
            ("and --processes would start 2 more in each of them", claim(2, [*plain, "--processes"])),
            ("error: rank 1 and rank 0 were started with different plans", claim(1, plain, [other, *few])),
            ("error: rank 1 and rank 0 were started with different options", claim(1, plain, [*plain, "--lr", "1"])),
            ("error: mpirun assigned rank 1 of 2, but MPI assigned rank 0 of 2: start processes on several hosts with the mpirun that belongs to libmpi.so.40",
             claim(2, plain, OMPI_COMM_WORLD_RANK=1)),
            ("error: not all 2 ranks joined within 3 s (--timeout)", claim(1, plain, ["sleep", "20"])),
            ("error: ranks on several hosts require Open MPI, but its library cannot be used: ",
             claim(2, plain, LD_LIBRARY_PATH=no_library)),
            ("error: mpiexec has started processes on several hosts (MPI_LOCALNRANKS=1 of PMI_SIZE=2), which requires MPI: start them "
             "with mpirun or srun", ["env", "PMI_RANK=0", "PMI_SIZE=2", "MPI_LOCALNRANKS=1", *map(str, plain)]),
            ("error: srun assigned rank 1 of 2, but MPI assigned rank 0 of 1: start processes on several hosts with srun --mpi=pmix",
             ["env", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_STEP_NUM_NODES=2", "SLURM_JOB_ID=xlc", *map(str, plain)]),
            ("ck: error: is not the same folder on this host and on the host of rank 0: all hosts must share the folder of checkpoints",
             claim(1, *(["sh", "-c", f"mkdir -p {folder} && cd {folder} && exec {path} --steps 2 --checkpoint-dir ck"]
                        for folder in (setting.scratch / "first", setting.scratch / "second")))),
            ("no/such: error: cannot be read", claim(2, [*plain, "--init", "no/such"])),
            ("no/such: error: cannot be written", claim(2, [*plain, "--save", "no/such"])),
    ]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:  # most of their time passes in mpirun, which waits
        outcomes = list(pool.map(run, [command for _, command in wrong]))
    for (words, _), (code, shown, said, seconds) in zip(wrong, outcomes):
        if code != 1 or shown or said.count("error: ") != 1 or words not in said or seconds > 10:
            yield f"'{words}' was expected, within 10 s: {code} after {seconds:.1f} s: {shown}{said}"


SRUN = """unset OMPI_COMM_WORLD_SIZE
export SLURM_PROCID=$OMPI_COMM_WORLD_RANK SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=2 SLURM_JOB_ID=xlc
exec "$@"
"""


def every_option_does_what_it_does_in_threads(setting, _):
    """Of those that need the other ranks: --check, --link-rate, --profile, a number that is not finite; and srun's variables."""
    need_mpirun()
    trained = promises.make(setting, "hosts-options", dp=2, stage=3)
    program.run([trained.path, *processes.arguments(trained, "threads", 3)])
    trace = trained.folder / "trace.json"
    command = [trained.path, *processes.arguments(trained, "hosts", 3)]
    yield from compare_with_threads(trained, "--check", "hosts", claim(2, [*command, "--check"]))
    yield from compare_with_threads(trained, "--link-rate", "hosts", claim(2, [*command, "--link-rate", "1e8", "--profile", trace]))
    rows = {(event["pid"], event["name"]) for event in json.loads(trace.read_text())["traceEvents"]}
    if not all((rank, "begin") in rows for rank in (0, 1)):
        yield f"a trace of {len(rows)} rows has not the actions of both ranks"
    yield from compare_with_threads(trained, "srun", "hosts", claim(2, ["sh", "-c", SRUN, "sh", *command]))
    name = min(trained.parameters("threads"))
    code, _, said, _ = run(claim(2, [trained.path, "--steps", 3, "--inject-fault", f"1:2:{name}=nan"]))
    if code != 7 or said.count("error: ") != 1 or "error: step 2: the gradient norm is not finite: nan" not in said:
        yield f"a gradient that is no number: {code}: {said}"


def gpu_variables(simulated, order, **others):
    return simulated.variables(order, XLC_SIMULATE_DEVICES=8, **others)


def gpus_meet_over_nccl(setting, everything):
    """Rank 0's id, and which GPU is whose, come over MPI: the same bits as threads, step by step and as graphs; what is saved is read from all GPUs."""
    need_mpirun()
    for number, (model, changes, precision) in enumerate(gpus.SEVERAL if everything else gpus.SEVERAL[1:2]):
        simulated = gpus.Simulated(setting, f"hosts-gpus-{number}", model, changes, precision=cases.PRECISIONS[precision])
        trained, world = simulated.program, changes.get("dp", 1) * changes.get("pp", 1) * changes.get("tp", 1)
        trained.train(gpus.GRAPH_STEPS, "--threads", tag="threads", variables=gpu_variables(simulated, "early"))
        for order, graph in (("random:1", "on"), ("late", "off")):
            command = [trained.path, *processes.arguments(trained, "hosts", gpus.GRAPH_STEPS), "--graph", graph]
            yield from compare_with_threads(trained, f"{model[0]}, --graph {graph}", "hosts",
                                            claim(world, command, local=world // 2, **gpu_variables(simulated, order)))
        warned = run(claim(world, [trained.path, "--steps", gpus.GRAPH_STEPS, "--graph", "on"], local=world // 2,
                           **gpu_variables(simulated, "early", XLC_SIMULATE_FAIL="cuStreamEndCapture", XLC_SIMULATE_OF=1)))
        if warned[0] or gpus.NO_GRAPH not in warned[2]:
            yield f"{model[0]}: a capture that one rank cannot end: {warned[0]}: {warned[2]}"


FAILING_RANK = """#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" = 0 ] || export XLC_SIMULATE_FAIL=ncclReduceScatter
exec "$@"
"""


def gpus_in_namespaces(setting, _):
    """Each host has a GPU of the same number; a rank there is killed, or its device fails."""
    simulated = gpus.Simulated(setting, "namespaces-gpus", ("mlp", "logits", "sgd"), {"dp": 2, "stage": 3})
    trained = simulated.program
    trained.train(3, "--threads", tag="threads", variables=gpu_variables(simulated, "early"))
    with Namespaces(trained.folder, 2) as hosts:
        def launch(*words, **others):
            told = [f"{name}={value}" for name, value in gpu_variables(simulated, "early", **others).items()]
            return hosts.launch(2, ["env", *told, *words])

        yield from compare_with_threads(trained, "namespaces", "hosts", launch(trained.path, *processes.arguments(trained, "hosts", 3)))
        yield from kill_one(trained, launch(trained.path, *processes.arguments(trained, "run", 10 ** 8)), -1)
        failing = trained.folder / "failing"
        failing.write_text(FAILING_RANK)
        failing.chmod(0o755)
        code, _, said, seconds = run(launch(failing, trained.path, "--steps", 3))
        if code != 5 or said.count("error: ") != 1 or "error: rank 1, step 1, " not in said or "ncclReduceScatter" not in said or seconds > 10:
            yield f"a call of rank 1 fails: {code} after {seconds:.1f} s: {said}"


def wrong_gpus_are_refused(setting, _):
    need_mpirun()
    simulated = gpus.Simulated(setting, "hosts-gpus-wrong", ("mlp", "logits", "sgd"), {"dp": 4, "stage": 1})
    plain = [simulated.program.path, "--steps", 2]
    no_library = setting.scratch / "no-library-for-gpus"
    no_library.mkdir(exist_ok=True)
    (no_library / "libmpi.so.40").write_text("no library")
    for words, local, variables in (("or set MASTER_ADDR to the address of rank 0, and MASTER_PORT to a port from 1 to 65534", 1, {"LD_LIBRARY_PATH": no_library}),
                                    ("error: ranks 0 and 1 have the same GPU: each rank needs its own", 1, {"OMPI_COMM_WORLD_LOCAL_RANK": 0}),
                                    ("error: the program has 4 ranks, of which 3 are on this host, but 2 GPUs are visible", 3, {"XLC_SIMULATE_DEVICES": 2})):
        code, shown, said, _ = run(claim(4, plain, local=local, **{**gpu_variables(simulated, "early"), **variables}))
        if code != 1 or shown or said.count("error: ") != 1 or words not in said:
            yield f"'{words}' was expected: {code}: {shown}{said}"


def find_port():
    """One whose next is free."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1] - 1


def torchrun(simulated, world, command, local=1, killed=None, **one):
    """How processes end that torchrun has started on several hosts, `local` on each; `one`: variables of rank 1. `killed`: a rank, once it trains."""
    port = find_port()
    (simulated.program.folder / "run.jsonl").unlink(missing_ok=True)
    told = [{**gpu_variables(simulated, "early"), **processes.torchrun_variables(rank, world, port, local=local), **(one if rank == 1 else {})}
            for rank in range(world)]
    ranks = processes.Ranks([command] * world, told)
    if killed is not None:
        processes.wait_until(lambda: processes.is_running(simulated.program, "run", 2))
        ranks.all[killed].kill()
    return ranks.end()


def gpus_meet_over_tcp(setting, everything):
    """As torchrun starts them, which MPI does not join: by connections with rank 0. The same bits as threads; whoever fails or goes ends all."""
    for number, (model, changes, precision) in enumerate(gpus.SEVERAL if everything else gpus.SEVERAL[1:2]):
        simulated = gpus.Simulated(setting, f"torchrun-gpus-{number}", model, changes, precision=cases.PRECISIONS[precision])
        trained, world = simulated.program, changes.get("dp", 1) * changes.get("pp", 1) * changes.get("tp", 1)
        trained.train(gpus.GRAPH_STEPS, "--threads", tag="threads", variables=gpu_variables(simulated, "early"))
        codes, shown, said, _ = torchrun(simulated, world, [trained.path, *processes.arguments(trained, "hosts", gpus.GRAPH_STEPS)], world // 2)
        if any(codes) or said or any(shown[1:]) or trained.bits("hosts") != trained.bits("threads"):
            yield f"{model[0]}: ended with {codes}: {said[-600:]}, or has other bits"
        yield from (f"{model[0]}: {complaint}" for complaint in compare.compare_stats(trained.stats("hosts")))
    simulated = gpus.Simulated(setting, "torchrun-ended", ("mlp", "logits", "sgd"), {"dp": 4, "stage": 1})
    endless = [simulated.program.path, *processes.arguments(simulated.program, "run", 10 ** 8)]
    for killed in (0, 2):
        codes, _, said, seconds = torchrun(simulated, 4, endless, killed=killed)
        if codes != [-signal.SIGKILL if rank == killed else 5 for rank in range(4)] or seconds > 10 or f"the connection to rank {killed} has ended" not in said:
            yield f"rank {killed} was killed: {codes} after {seconds:.1f} s: {said}"
    codes, _, said, seconds = torchrun(simulated, 4, [simulated.program.path, "--steps", 3], XLC_SIMULATE_FAIL="ncclAllReduce")
    if codes != [5] * 4 or said.count("error: ") != 1 or "error: rank 1, step 1, " not in said or "ncclAllReduce" not in said or seconds > 10:
        yield f"a call of rank 1 fails: {codes} after {seconds:.1f} s: {said}"
    codes, _, said, seconds = torchrun(simulated, 4, [simulated.program.path, "--steps", 3, "--timeout", 2], MASTER_PORT=1)
    if codes != [1] * 4 or "error: not all 4 ranks joined within 2 s (--timeout)" not in said or seconds > 10:
        yield f"rank 1 looks for another rank 0: {codes} after {seconds:.1f} s: {said}"
    codes, _, said, _ = torchrun(simulated, 4, [simulated.program.path, "--steps", 3, "--timeout", 2], MASTER_ADDR="")
    if codes[1] != 1 or "torchrun has started processes on several hosts (LOCAL_WORLD_SIZE=1 of WORLD_SIZE=4), which requires MPI: start them with mpirun or srun, or set MASTER_ADDR to the address of rank 0, and MASTER_PORT to a port from 1 to 65534" not in said:
        yield f"rank 1 is told no meeting point: {codes}: {said}"


# Those that compare what ranks have said or trained mostly wait for one another: they run beside other cases. Those that say how soon a
# job ends run alone.
BESIDE = (same_bits_as_threads, every_option_does_what_it_does_in_threads, layouts_in_namespaces, wrong_launches_are_refused,
          gpus_in_namespaces)
WAITING = (namespaces_are_hosts, killed_ranks_end_the_job, a_fault_is_said_once, a_rank_that_hangs_is_named,
           signals_end_all_after_the_step)
ALONE = (gpus_meet_over_nccl, gpus_meet_over_tcp, wrong_gpus_are_refused)


def list_checks(checks, everything):
    """(name, check): few layouts and ranks, or all of them."""
    return [(f"hosts: {check.__name__.replace('_', ' ')}", lambda setting, check=check: check(setting, everything)) for check in checks]
