#!/usr/bin/env python3
"""Runs the checks that scripts/device has packed, on a GPU. Prints `skipped` and the reason if there is none.

    FOLDER/on_device.py                       all checks, the most important first
    FOLDER/on_device.py --only 'gpt2|speed'   checks whose name matches: a later call can continue where one has ended
    FOLDER/on_device.py --list                their names

A check has a time limit, and the next one runs even if it fails. Needs Python 3 and the driver; a check that needs more (PyTorch,
Nsight Compute, compute-sanitizer) is skipped without it, and prints its name.
"""

import argparse
import contextlib
import csv
import ctypes
import dataclasses
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback
import typing

STEPS = 5
GRAPH_STEPS = 8
PATIENCE = 150  # seconds, of one command
SEQUENCE = 1024
PROFILED_STEPS = 2
TIMED_STEPS = 6
SHOWN_KERNELS = 40


class Failed(Exception):
    """What a check has found wrong."""


class Skipped(Exception):
    """Why a check cannot be made here."""


@dataclasses.dataclass
class Place:
    """Where programs lie; and the simulated libraries, where there is no real device."""
    folder: pathlib.Path
    simulated: pathlib.Path | None

    def variables(self, name):
        return {"XLC_CUDA_LIBRARIES": self.simulated, "XLC_SIMULATE_IMAGE": self.folder / f"{name}.so"} if self.simulated else {}


@dataclasses.dataclass
class Speed:
    """A step of a big model that is timed. A few first steps are not."""
    model: str
    rows: int  # of a micro-batch
    micro_batches: int
    steps: int
    first: int

    def tokens(self):
        return self.rows * self.micro_batches * SEQUENCE

    def __str__(self):
        return f"{self.model} in bf16, {f'{self.micro_batches} x ' if self.micro_batches > 1 else ''}{self.rows} x {SEQUENCE}"


# The steps that one GPU has in the runs that llm.c publishes (its scripts/run_gpt2_124M.sh and run_gpt2_1558M.sh: -b, and -d over -b, -t and eight
# GPUs); and one of a single micro-batch, in which the optimizer weighs more.
SPEEDS = {"gpt2": Speed("gpt2", 64, 1, steps=30, first=10), "gpt2-xl": Speed("gpt2-xl", 16, 8, steps=12, first=4),
          "gpt2-xl-once": Speed("gpt2-xl", 16, 1, steps=30, first=10)}


@dataclasses.dataclass
class Check:
    name: str
    make: typing.Callable  # what it says where it passes


def run(command, variables=None, patience=PATIENCE):
    """What a command printed; with all that it has started it ends after so many seconds."""
    started = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True, env={**os.environ, **{name: str(value) for name, value in (variables or {}).items()}})
    try:
        stdout, stderr = started.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        raise Failed(f"it did not finish within {patience} s: {(started.communicate()[1] or '').strip()[-600:]}") from None
    except BaseException:  # this script is to end: nothing of its goes on
        os.killpg(started.pid, signal.SIGKILL)
        raise
    return subprocess.CompletedProcess(command, started.returncode, stdout, stderr)


def require(done):
    """The same, where the command has done what it should."""
    if done.returncode:
        raise Failed(f"exit {done.returncode}: {(done.stderr or done.stdout).strip()[-1200:]}")
    return done


def read_log(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def train(place, name, expected, *options):
    """Two ranks are processes that share the GPU."""
    done = require(run([place.folder / name, "--data", place.folder / expected["data"], *options], {"XLC_SHARE_GPU": 1} | place.variables(name)))
    if "note: " in done.stderr:  # such as of a library that is not there
        raise Failed(done.stderr.strip())
    return done


def check_losses(place, name, expected):
    """Losses beside the CPU's, and what the program has beside its arena."""
    log, stats = place.folder / f"{name}.jsonl", place.folder / f"{name}.stats"
    train(place, name, expected, "--steps", STEPS, "--log", log, "--stats", stats)
    found = [step["loss"] for step in read_log(log)]
    worst = max(abs(a - b) / abs(b) for a, b in zip(found, expected["losses"], strict=True))
    if not worst <= expected["tolerance"]:
        raise Failed(f"losses are {worst:.1e} from the CPU's: {found}, {expected['losses']}")
    outside = json.loads(stats.read_text())["outside"]
    lines = ", ".join(f"{line} {bytes_ / 2**20:.0f} MiB" for line, bytes_ in outside["measured"].items())
    return f"losses at most {worst:.1e} from the CPU's; beside the arena {lines} of {outside['planned'] / 2**20:.0f} MiB planned"


def check_same(place, name, expected, options, others, words):
    """Runs with one list of options and with another leave the same bits; about the same losses where a library adds in any order."""
    saved, losses = [], []
    for tag, given in (("one", options), ("other", others)):
        path = place.folder / f"{name}-{tag}.safetensors"
        done = train(place, name, expected, "--steps", GRAPH_STEPS, "--save", path, "--log", path.with_suffix(".jsonl"), *given)
        if "without graphs" in done.stderr:
            raise Failed(done.stderr.strip())
        saved.append(path.read_bytes())
        losses.append([step["loss"] for step in read_log(path.with_suffix(".jsonl"))])
    if expected["adds_in_any_order"]:
        worst = max(abs(a - b) / abs(b) for a, b in zip(*losses, strict=True))
        if not worst <= expected["tolerance"]:
            raise Failed(f"losses are {worst:.1e} from those {words}: {losses}")
        return f"losses at most {worst:.1e} from those {words}"
    if saved[0] != saved[1]:
        raise Failed(f"bits differ from those of a run {words}; losses {losses}")
    return f"the same bits as a run {words}"


def check_beside(place, name, other, data):
    """Gradients of weights on a stream of their own leave the bits of the program that has them in its order."""
    saved = [place.folder / f"{each}-beside.safetensors" for each in (name, other)]
    for each, path in zip((name, other), saved):
        require(run([place.folder / each, "--steps", GRAPH_STEPS, "--data", place.folder / data, "--save", path], place.variables(each)))
    if saved[0].read_bytes() != saved[1].read_bytes():
        raise Failed(f"bits differ from those of {other}")
    return f"the same bits as {other}"


def check_bits(place, name, data):
    """All bits that kernels leave are as on the processor (lib/Simulate/Libraries/Lockstep.cpp), which looks at one launch at a time."""
    products = place.simulated / "libcublasLt.so.12" if place.simulated else find_products()
    libraries, report = place.folder / "lockstep", place.folder / f"{name}.lockstep"
    for link in libraries.glob("libcublasLt.so.*"):
        link.unlink()
    (libraries / products.name).symlink_to(products)
    variables = {"XLC_CUDA_LIBRARIES": libraries, "XLC_SIMULATE_IMAGE": place.folder / f"{name}.so", "XLC_LOCKSTEP_REPORT": report}
    require(run([place.folder / name, "--steps", 2, "--overlap", "inline", "--data", place.folder / data],
                variables | ({"LD_LIBRARY_PATH": place.simulated} if place.simulated else {})))
    kernels = [json.loads(line) for line in report.read_text().splitlines()]
    differing = ["{kernel}: {differing} of {launches} launches, {words} words; the first {gpu}, on the processor {cpu}".format(**kernel)
                 for kernel in kernels if kernel["differing"]]
    if differing or not kernels:
        raise Failed("\n        ".join([f"{len(differing)} of {len(kernels)} kernels compute other bits than the processor", *differing]))
    return f"{len(kernels)} kernels in {sum(each['launches'] for each in kernels)} launches compute the same bits as the processor"


def check_unit(place, tests, pattern):
    """Tests of one of cuDNN's uses, in a process of their own."""
    done = run([place.folder / tests, f"--gtest_filter={pattern}"], {"XLC_CUDA_LIBRARIES": place.simulated or ""})
    if done.returncode:
        raise Failed("\n".join(line for line in done.stdout.splitlines() if re.search("FAILED|Which is|actual|error", line))[-2000:] or f"exit {done.returncode}")
    if "[       OK ]" not in done.stdout:
        raise Failed(f"no test matches {pattern}")
    return f"{done.stdout.count('[       OK ]')} cases agree with float64"


def measure_figures(place):
    """What `xlc calibrate --target cuda` would write."""
    return require(run([place.folder / "CudaMeasureTests"], {"XLC_CUDA_LIBRARIES": place.simulated or ""})).stdout.split("figures", 1)[-1].splitlines()[0]


def check_memory(place, name, data):
    """compute-sanitizer finds no access that is none. That a cubin of another chip is refused is no error here."""
    if place.simulated or not shutil.which("compute-sanitizer"):
        raise Skipped("compute-sanitizer is not installed, or the GPU is simulated")
    done = run(["compute-sanitizer", "--error-exitcode", 9, "--report-api-errors", "no", place.folder / name, "--steps", 2, "--data", place.folder / data],
               {"CUDA_MODULE_LOADING": "LAZY"})
    if done.returncode:  # the first of its reports is the cause
        raise Failed(f"exit {done.returncode}: {done.stdout[:2000]} ... {done.stderr[-600:]}")
    return "no invalid access"


def write_ids(path, rows, width, words=50257):
    """Ids of no meaning, as .npy."""
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({rows}, {width}), }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    ids = b"".join((i * 7919 % words).to_bytes(8, "little") for i in range(rows * width))
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + ids)


def data_of(place, name):
    data, speed = place.folder / f"data-{name}", SPEEDS[name]
    data.mkdir(exist_ok=True)
    for file in ("input_ids", "labels"):
        write_ids(data / f"{file}.npy", speed.rows * speed.micro_batches, SEQUENCE)
    return data


def show_speed(speed, seconds):
    """As the median of the steps."""
    return f"{speed}: {speed.tokens() / sorted(seconds)[len(seconds) // 2]:.0f} tokens/s"


@contextlib.contextmanager
def watched_clock():
    """A list in which, at the end, is what clock and power the first GPU had under load, as far as its vendor's tool says."""
    said, fields = ["clock not known"], "clocks.sm,clocks.max.sm,power.draw,power.limit"
    if not shutil.which("nvidia-smi"):
        yield said
        return
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0] or "0"
    with subprocess.Popen(["nvidia-smi", f"--id={first}", f"--query-gpu={fields}", "--format=csv,noheader,nounits", "--loop-ms=100"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as tool:
        try:
            yield said
        finally:
            tool.kill()
            lines, _ = tool.communicate()
    samples = []
    for line in lines.splitlines():
        try:
            samples.append([float(word) for word in line.split(",")])
        except ValueError:  # "[N/A]", or a line that was not finished
            continue
    if samples := sorted(sample for sample in samples if len(sample) == 4 and sample[2] > 0.7 * max(each[2] for each in samples)):
        clock, most, power, limit = samples[len(samples) // 2]
        said[0] = f"at {clock:.0f} of {most:.0f} MHz and {power:.0f} of {limit:.0f} W"


def measure_speed(place, name, *options, program=None):
    """Tokens a second, and the memory that was planned and used; of another program of that step than the usual one, where one is given."""
    program, speed = place.folder / f"speed-{program or name}", SPEEDS[name]
    log, stats = program.with_suffix(".jsonl"), program.with_suffix(".stats")
    with watched_clock() as clock:
        require(run([program, "--steps", speed.steps, "--data", data_of(place, name), "--log", log, "--stats", stats, *options]))
    found = json.loads(stats.read_text())
    arena, outside = found["arena"]["used"], found["outside"]
    planned, used = arena + outside["planned"], arena + sum(outside["measured"].values())
    return (f"{show_speed(speed, [step['seconds'] for step in read_log(log)[speed.first:]])}; {planned / 2**20:.0f} MiB planned, "
            f"{used / 2**20:.0f} MiB used, {planned / used - 1:+.2%}; beside the arena {outside['measured']}; {clock[0]}")


def tuned_of(place, name):
    return place.folder / f"tuned-{name}.json"


def measure_beside(place, name):
    """Gradients of weights on a stream of their own, with the algorithms that were timed, too, where they were."""
    options = [[], ["--tuned", tuned_of(place, name)]] if tuned_of(place, name).exists() else [[]]
    return "; ".join(f"{' '.join(map(str, each[:1])) or 'as proposed'}: {measure_speed(place, name, *each, program=f'{name}-beside')}" for each in options)


def measure_tuned(place, name):
    tuned = tuned_of(place, name)
    said = require(run([place.folder / f"speed-{name}", "--tune", tuned])).stdout.strip().splitlines()[-1]
    return f"{said}; {measure_speed(place, name, '--tuned', tuned)}"


def measure_peer(place, name, attention):
    """What PyTorch has for the same step, compiled; in smaller micro-batches, where its memory does not do."""
    speed = SPEEDS[name]
    while True:
        with watched_clock() as clock:
            done = run([shutil.which("python3"), place.folder / "peer.py", "autocast", "compiled", "--model", speed.model, "--rows", speed.rows,
                        "--micro-batches", speed.micro_batches, "--sequence", SEQUENCE, "--threads", os.cpu_count(), "--attention", attention,
                        "--warm", 3, "--steps", speed.steps - speed.first], patience=240)
        if "No module named" in done.stderr:
            raise Skipped(done.stderr.strip().splitlines()[-1])
        if "OutOfMemoryError" not in done.stderr or speed.rows == 1:
            return f"PyTorch, autocast, compiled, {attention} attention: {show_speed(speed, json.loads(require(done).stdout))}; {clock[0]}"
        speed = dataclasses.replace(speed, rows=speed.rows // 2, micro_batches=speed.micro_batches * 2)


def profile(place, name):
    """Each launch of the last step alone, by kernel, as Nsight Compute times it."""
    if not shutil.which("ncu"):
        raise Skipped("no ncu")
    report = place.folder / f"{name}.csv"
    require(run(["ncu", "--clock-control", "none", "--metrics", "gpu__time_duration.sum", "--csv", "--log-file", report,
                 place.folder / f"speed-{name}", "--steps", PROFILED_STEPS, "--graph", "off", "--data", data_of(place, name)], patience=300))
    lines = report.read_text().splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        raise Skipped(f"ncu has no table: {' '.join(lines)[-400:]}")
    rows = [row for row in csv.DictReader(lines[begin:]) if row["Metric Value"]]
    kernels = {}
    for row in rows[-(len(rows) // PROFILED_STEPS):]:
        scale = {"n": 1e-6, "u": 1e-3, "m": 1, "s": 1e3}[row["Metric Unit"][0]]
        entry = kernels.setdefault(row["Kernel Name"].split("(")[0][:70], [0, 0.0])
        entry[0] += 1
        entry[1] += float(row["Metric Value"].replace(",", "")) * scale
    total = sum(time_ for _, time_ in kernels.values())
    return "\n        ".join([f"{sum(count for count, _ in kernels.values())} launches, {total:.1f} ms", *list_longest(kernels)])


def show_timeline(place, name):
    """Where the time of the last step goes, as the program's own marks say, at the clocks that a whole step has: calls by function and place in
    it, of all layers together."""
    trace = place.folder / f"timeline-{name}.json"
    require(run([place.folder / f"speed-{name}", "--steps", TIMED_STEPS, "--data", data_of(place, name), "--profile", trace]))
    events = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X"]
    begin = max(event["ts"] for event in events if event["name"] == "begin")
    events = sorted((event for event in events if event["ts"] >= begin), key=lambda event: (event["ts"], -event["dur"]))
    times, function, number = {}, "", 0
    for event in events:
        if event["cat"] == "run":
            function, number = re.sub(r"\[\d+\]", "", event["name"]), 0
        elif event["cat"] == "call":
            number += 1
            entry = times.setdefault(f"{function}, call {number}: {event['name']}", [0, 0.0])
            entry[0] += 1
            entry[1] += event["dur"] / 1e3
    return "\n        ".join([f"a step of {max(event['ts'] + event['dur'] for event in events) / 1e3 - begin / 1e3:.1f} ms", *list_longest(times)])


def list_longest(times):
    """The count of each and its milliseconds together, the longest first."""
    by_time = sorted(times.items(), key=lambda item: -item[1][1])
    return [f"{time_:9.3f} ms {count:5} {name}" for name, (count, time_) in by_time[:SHOWN_KERNELS]]


def find_device():
    """What the driver says of the first GPU."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise Skipped("libcuda.so.1 was not found") from None
    version, device, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(256)
    if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), 0) or driver.cuDeviceGetName(name, 256, device):
        raise Skipped("the driver finds no GPU")
    driver.cuDriverGetVersion(ctypes.byref(version))
    return f"{name.value.decode()}, driver for CUDA {version.value // 1000}.{version.value % 1000 // 10}"


def find_products():
    """cuBLASLt as the driver's version asks for it, or the other one."""
    version = ctypes.c_int()
    ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    for number in (12, 13) if version.value < 13000 else (13, 12):
        if found := find_library(f"libcublasLt.so.{number}"):
            return found
    raise Failed("cuBLASLt was not found")


def find_library(name):
    """Where programs would find it; none: nowhere."""
    prefix = pathlib.Path(shutil.which("python3") or sys.executable).parents[1]
    paths = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder] + ["/usr/lib/x86_64-linux-gnu"]
    paths += [f"{root}/lib/python3*/{packages}/nvidia/*/lib" for root in (os.environ.get("VIRTUAL_ENV", ""), prefix, prefix / "local", pathlib.Path.home() / ".local")
              if str(root) for packages in ("site-packages", "dist-packages")]
    for pattern in [*paths, "/usr/local/cuda*/lib64"]:
        for path in glob.glob(f"{pattern}/{name}"):
            return pathlib.Path(path)
    return None


def list_versions(place):
    """Of the libraries that programs open, as far as they are found."""
    number, found = ctypes.c_int(), []
    for name, function in (("libcublasLt.so.13", "cublasLtGetVersion"), ("libcublasLt.so.12", "cublasLtGetVersion"),
                           ("libcudnn.so.9", "cudnnGetVersion"), ("libnccl.so.2", "ncclGetVersion")):
        path = place.simulated / name if place.simulated else find_library(name)
        if path and path.exists():
            ask = getattr(ctypes.CDLL(str(path)), function)
            version = ask() if "nccl" not in name else (ask(ctypes.byref(number)), number.value)[1]
            found.append(f"{name} {version}")
    return ", ".join(found) or "no libraries were found"


def list_checks(place):
    """The most telling first: a device may be had for minutes alone."""
    expected = json.loads((place.folder / "expected.json").read_text())
    speeds = [name for name in SPEEDS if not place.simulated and (place.folder / f"speed-{name}").exists()]
    once = [name for name in speeds if SPEEDS[name].micro_batches == 1]

    def of_programs(*, fused=False, wide=False, several=False):
        for name, each in expected.items():
            if (each["fused"], name.endswith("fp32"), each["ranks"] > 1) != (fused, wide, several):
                continue
            yield Check(name, lambda name=name, each=each: check_losses(place, name, each))
            yield Check(f"{name} as graphs", lambda name=name, each=each: check_same(place, name, each, ("--graph", "on"), ("--graph", "off"), "action by action"))
            if several:
                yield Check(f"{name} registered", lambda name=name, each=each: check_same(place, name, each, ("--register-buffers",), (), "without it"))
            if not fused and not several:
                if (other := each["in_order"]) in expected:
                    yield Check(f"{name} beside", lambda name=name, other=other, each=each: check_beside(place, name, other, each["data"]))
                yield Check(f"{name} in lockstep", lambda name=name, each=each: check_bits(place, name, each["data"]))

    def of_speeds(what, make, names, *options):
        return [Check(f"{what} {name}", lambda name=name: make(place, name, *options)) for name in names]

    yield Check("versions", lambda: list_versions(place))
    yield Check("attention", lambda: check_unit(place, "CudaAttentionTests", "*Attention*"))
    many = "" if place.simulated else ":*ByThreads*"  # thousands of plans, for the simulated library's locks
    yield Check("convolutions", lambda: check_unit(place, "CudaAttentionTests", f"-*Attention*{many}"))
    yield from of_programs(fused=True)
    yield from of_programs(fused=True, wide=True)
    yield from of_programs()
    yield from of_speeds("speed", measure_speed, speeds)
    yield from of_speeds("tuned", measure_tuned, speeds)
    yield from of_speeds("weight gradients beside", measure_beside, speeds)
    yield from of_programs(several=True, wide=True)
    yield from of_speeds("timeline", show_timeline, speeds[::-1])
    yield from of_speeds("profile", profile, once[::-1])
    yield from of_programs(wide=True)
    yield Check("figures", lambda: measure_figures(place))
    for attention in "flash", "cudnn":
        yield from of_speeds(f"peer, {attention}", measure_peer, [name for name in ("gpt2", "gpt2-xl") if name in speeds], attention)
    yield from of_speeds("speed without graphs", lambda place, model: measure_speed(place, model, "--graph", "off"), speeds)
    for name in ("mlp-fp32", "gpt2-bf16"):
        if name in expected:
            yield Check(f"{name} under compute-sanitizer", lambda name=name: check_memory(place, name, expected[name]["data"]))


def make_check(check):
    """Whether it passes; prints what it says."""
    begin = time.monotonic()
    try:
        result, said = "passed", check.make()
    except Failed as problem:
        result, said = "FAILED", str(problem)
    except Skipped as why:
        result, said = "skipped", str(why)
    except Exception:  # of one check: the next one runs
        result, said = "FAILED", traceback.format_exc()
    print(f"{result:7} {check.name}: {said} ({time.monotonic() - begin:.1f} s)")
    return result != "FAILED"


def run_checks(place, only):
    """Whether none has failed."""
    sys.stdout.reconfigure(line_buffering=True)  # what has been said stays, whatever ends this
    if not place.simulated:
        try:
            print(find_device())
        except Skipped as why:
            print(f"skipped: {why}")
            return True
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    done = [make_check(check) for check in list_checks(place) if re.search(only, check.name)]
    if not done:
        print(f"no check matches '{only}'")
    return bool(done) and all(done)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="\n".join(__doc__.splitlines()[1:]),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="only checks whose name matches")
    parser.add_argument("--list", action="store_true", help="print the checks' names and exit")
    options = parser.parse_args()
    place = Place(pathlib.Path(__file__).resolve().parent, None)
    if options.list:
        print(*(check.name for check in list_checks(place)), sep="\n")
        return 0
    return 0 if run_checks(place, options.only) else 1


if __name__ == "__main__":
    sys.exit(main())
