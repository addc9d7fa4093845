"""Bad days: full disks, limits, signals, files that change, several processes at once (scripts/stress).

Each check is a function whose first line says what must hold; it builds what it needs in a folder of its own. Checks of
full disks mount a small file system in a mount namespace: they need root, or a system that lets users have namespaces.
What cannot run here is named. The last line is `N passed, N failed`.
"""

import argparse
import concurrent.futures
import inspect
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import damage  # noqa: E402  pylint: disable=wrong-import-position
import strangers  # noqa: E402  pylint: disable=wrong-import-position
import streams  # noqa: E402  pylint: disable=wrong-import-position
import tally  # noqa: E402  pylint: disable=wrong-import-position
from bench import MODEL, ROOT, SPEC, DAMAGE, Bench, expect  # noqa: E402  pylint: disable=wrong-import-position

# Programs and their parameters ----------------------------------------------------------------------------------


def two_compilations_into_one_name(bench):
    """Of two compilations into one name the later one is whole: never one's program with the other's parameters."""
    (bench.folder / "other.yaml").write_text("dp: 2\n" + SPEC)
    for _ in range(6):
        first = bench.start(bench.xlc, "compile", MODEL, "--spec", "s.yaml", "-o", "train")
        second = bench.start(bench.xlc, "compile", MODEL, "--spec", "other.yaml", "-o", "train")
        for process in (first, second):
            _, said = process.communicate(timeout=60)
            expect(process.returncode == 0, said)
        bench.run("./train", "--steps", "1")
    expect(len([name for name in bench.files() if name.startswith("train")]) == 2, bench.files())


def programs_and_parameters_of_two_compilations(bench):
    """A program beside the parameters of another compilation (a crash between two renames) refuses them by name."""
    bench.compile()
    random = bench.folder / "edited.onnx"
    blob = bytearray(MODEL.read_bytes())
    at = len(blob) - len(blob) // 2  # in the middle of the weights
    blob[at] ^= 1
    random.write_bytes(blob)
    bench.run(bench.xlc, "compile", "edited.onnx", "--spec", "s.yaml", "-o", "other")
    shutil.copy(bench.folder / "other.safetensors", bench.folder / "train.safetensors")
    bench.run("./train", "--steps", "1", code=1, says="train.safetensors: error: has values")


def a_compilation_that_is_killed(bench):
    """Killed at any time, compile leaves the old program with its own parameters, or the new one with its own."""
    bench.compile()
    before = bench.files()
    for delay in (0.02, 0.05, 0.1, 0.15, 0.2, 0.25):
        process = bench.start(bench.xlc, "compile", MODEL, "--spec", "s.yaml", "-o", "train")
        time.sleep(delay)
        process.kill()
        process.communicate()
        bench.run("./train", "--steps", "1")
    for delay in [0.02 * i for i in range(1, 16)]:  # some of them while the linker runs
        process = bench.start(bench.xlc, "compile", MODEL, "--spec", "s.yaml", "-o", "next")
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        process.communicate()
        expect(process.returncode in (0, -signal.SIGINT), process.returncode)
    left = [name for name in bench.files() if name not in before and not re.fullmatch(r"next(\.safetensors)?", name)]
    expect(all(name.startswith("train") for name in left), f"an interrupted compile left {left}")


def a_save_that_is_killed(bench):
    """Killed while it saves, a program leaves the old file or the new one, never a part."""
    bench.compile()
    bench.run("./train", "--steps", "1", "--save", "w")
    for delay in (0.0, 0.005, 0.01, 0.02, 0.03):
        process = bench.start("./train", "--steps", "1", "--save", "w")
        time.sleep(delay)
        process.kill()
        process.communicate()
        bench.run("./train", "--steps", "1", "--init", "w")


def temporary_names_that_are_links(bench):
    """No file is written through a link that somebody has laid where a temporary file might be."""
    precious = bench.folder / "precious"
    precious.write_text("precious")
    for name in ("train.part", "train.part.o", "train.o", "train.part.log", "train.safetensors.part"):
        (bench.folder / name).symlink_to("precious")
    bench.compile()
    expect(precious.read_text() == "precious", "a link was followed")


# Full disks and limits ------------------------------------------------------------------------------------------


def a_disk_that_is_too_small(bench):
    """[namespace] A disk that is full is named, and nothing that was there is lost or mixed."""
    script = f"""
mount -t tmpfs -o size=$SIZE none small && cp s.yaml *.npy small && cd small
if [ "$OLD" ]; then cp ../train ../train.safetensors .; fi
{bench.xlc} compile {MODEL} --spec s.yaml -o train; echo code $?
ls; if [ -e train ]; then ./train --steps 1; echo code $?; fi
"""
    (bench.folder / "small").mkdir()
    (bench.folder / "script").write_text(script)
    bench.compile()
    size = (bench.folder / "train").stat().st_size
    for old in ("", "yes"):
        for room in (65536, size // 2, size + 16384, size + 65536):
            given = room + (size + 65536 if old else 0) + 65536
            said = bench.run(*NAMESPACE, "sh", "script", env=dict(os.environ, SIZE=str(given), OLD=old))
            codes = re.findall(r"^code (\d+)$", said, re.M)
            expect(codes[0] in "01" and all(code == "0" for code in codes[1:]), said)
            if codes[0] == "1":
                expect(re.search("No space left|cannot be written|final link failed", said), said)
                expect(("train" in said.split()) == bool(old), said)
            expect(not re.search(r"train\.[A-Za-z0-9]{6}$", said, re.M), f"a temporary file was left: {said}")


def a_disk_that_fills_while_it_trains(bench):
    """[namespace] A full disk at --save, --profile and --stats is named, and an old file survives."""
    bench.compile()
    (bench.folder / "small").mkdir()
    (bench.folder / "script").write_text("""
mount -t tmpfs -o size=32k none small && echo old > small/w && dd if=/dev/zero of=small/fill bs=1k 2>/dev/null
./train --steps 2 --$OPTION small/w; echo code $?; head -c 4 small/w
""")
    for option in ("save", "profile", "stats"):
        said = bench.run(*NAMESPACE, "sh", "script", env=dict(os.environ, OPTION=option))
        expect("code 1" in said and "small/w: error: cannot be written: No space left on device" in said, said)
        expect(said.count("old\n") == 1, said)


def limits_of_file_sizes(bench):
    """A limit of file sizes is an error with a name, of compile and of --save; no temporary file stays."""
    before = bench.files()
    for blocks in (1, 20):
        said = bench.compile(code=1, limit=f"-f {blocks}")
        expect("File too large" in said or "File size limit exceeded" in said, said)
    expect(bench.files() == before, bench.files())
    bench.compile()
    bench.run("./train", "--steps", "1", "--save", "w", code=1, limit="-f 1", says="w: error: cannot be written: File too large")
    expect("w" not in bench.files(), bench.files())


def limits_of_memory(bench):
    """Too little memory, threads or descriptors end in a message and an exit code, never in a crash."""
    bench.compile()
    for words in (["./train", "--steps", "1"], [bench.xlc, "compile", MODEL, "--spec", "s.yaml", "-o", "other"]):
        for stack in (64, 128):
            bench.run(*words, limit=f"-s {stack}")
    for kilobytes in range(50000, 120000, 5000):  # below that the dynamic linker ends; what is said must be one line
        done = subprocess.run(["sh", "-c", f"ulimit -v {kilobytes}; exec ./train --steps 1"], cwd=bench.folder, capture_output=True, text=True,
                              timeout=60, check=False)
        expect(done.returncode in (0, 5, 127) and done.stderr.count("\n") == (done.returncode != 0),
               f"{kilobytes} KiB: {done.returncode} {done.stderr}")
    for limit in ("-v 50000", "-v 100000", "-v 200000", "-n 3", "-n 5", "-s 64", "-u 1"):
        words = ["sh", "-c", f'ulimit {limit}; exec "$0" "$@"', "./train", "--steps", "1"]
        done = subprocess.run(words, cwd=bench.folder, capture_output=True, text=True, timeout=60, check=False)
        expect(done.returncode in (0, 1, 5, 70, 127) and not any(word in done.stderr for word in DAMAGE[:5]),
               f"{limit}: {done.returncode} {done.stderr}")
        expect(done.returncode == 0 or done.stderr.strip(), f"{limit}: not a word")


# Streams, signals, names ----------------------------------------------------------------------------------------


def signals_while_it_trains(bench):
    """SIGINT, SIGTERM and SIGHUP save and are seen by the shell; an ignored SIGHUP stays so; a second one ends at once."""
    bench.compile()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        process = bench.start("./train", "--steps", "100000000", "--save", "w")
        process.stdout.readline()
        process.send_signal(getattr(signal, name))
        _, said = process.communicate(timeout=10)
        expect(process.returncode == -getattr(signal, name), f"{name}: {process.returncode} {said}")
        expect(re.search(r"stopped after step \d+", said), said)
        bench.run("./train", "--steps", "1", "--init", "w")
        (bench.folder / "w").unlink()
    process = bench.start("nohup", "./train", "--steps", "100000000")
    process.stdout.readline()
    process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    expect(process.poll() is None, "nohup did not help")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)


def a_rank_that_is_stopped_at_the_start(bench):
    """Whenever one of a launcher's ranks stops, the others say whom they wait for."""
    (bench.folder / "s.yaml").write_text("dp: 4\nbatch: {global: 16, micro: 4}\n" + SPEC)
    bench.compile()
    jobs = []
    for number in range(6):
        told = [{"RANK": rank, "WORLD_SIZE": 4, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": 4, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 1 + number,
                 "TORCHELASTIC_RUN_ID": bench.folder} for rank in range(4)]
        jobs.append([bench.start("./train", "--steps", "100000000", "--timeout", "1",
                                 env={**os.environ, **{name: str(value) for name, value in own.items()}}) for own in told])
        time.sleep(0.004 * (number + 1))
        jobs[-1][3].send_signal(signal.SIGSTOP)
    time.sleep(20)  # a first step may take ten times as long as --timeout
    for ranks in jobs:
        for process in ranks:
            process.kill()
        said = "".join(process.communicate(timeout=10)[1] for process in ranks)
        expect("rank 3" in said and said.count("note: ") <= 1, said or "not a word")


def programs_that_are_missing(bench):
    """No other program is started."""
    bench.compile(env={})
    bench.compile(env={"PATH": "/none"})


def names_that_look_like_something_else(bench):
    """No name reaches a shell, or a tool as an option."""
    for name in ("-x", "-Wl,-v", "@x", "a;touch PWNED", "$(touch PWNED)", "a\nb", "a'\"b", "ü"):
        bench.run(bench.xlc, "compile", MODEL, "--spec", "s.yaml", f"--output={name}")
        expect((bench.folder / name).exists(), bench.files())
    expect("PWNED" not in bench.files(), "a name was run")


def models_without_an_end(bench):
    """An endless or too large model is refused after the stated limit, without being read into memory."""
    (bench.folder / "zero.onnx").symlink_to("/dev/zero")
    bench.run(bench.xlc, "plan", "zero.onnx", "--spec", "s.yaml", code=1, limit="-v 4000000", says="zero.onnx: error:")
    with open(bench.folder / "large.onnx", "wb") as file:
        file.truncate(3 << 30)
    bench.run(bench.xlc, "plan", "large.onnx", "--spec", "s.yaml", code=1, limit="-v 4000000", says="large.onnx: error:")
    (bench.folder / "zero.yaml").symlink_to("/dev/zero")
    bench.run(bench.xlc, "plan", MODEL, "--spec", "zero.yaml", code=1, limit="-v 4000000", says="error:")


NAMESPACE = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]


def has_namespaces():
    probe = subprocess.run([*NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False)
    return probe.returncode == 0


def run_check(xlc, name, check):
    """Whether what the check says holds, and how many seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with tally.timed(name):
                check(Bench(xlc, folder))
            return True, tally.SECONDS[name]
        except Exception:  # what went wrong is the result
            print(f"FAILED: {name}: {check.__doc__}\n{traceback.format_exc()}", flush=True)
            return False, tally.SECONDS[name]


def run_checks(xlc, only):
    """Two at a time for each processor, because checks mostly wait. In processes: a child of one thread would inherit the open file of a program
    that another thread writes, and the system does not execute such a file."""
    chosen, namespaces = [], has_namespaces()
    for name, check in [*globals().items(), *(item for room in (damage, strangers, streams) for item in vars(room).items())]:
        if not inspect.isfunction(check) or list(inspect.signature(check).parameters) != ["bench"]:
            continue
        if only and not re.search(only, name):
            continue
        if "[namespace]" in check.__doc__ and not namespaces:
            print(f"not run: {name}: it needs a mount namespace, which this system does not give")
            continue
        chosen.append((name, check))
    with concurrent.futures.ProcessPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        running = {name: pool.submit(run_check, xlc, name, check) for name, check in chosen}
        outcomes = {name: one.result() for name, one in running.items()}
    tally.SECONDS.update({name: seconds for name, (_, seconds) in outcomes.items()})
    passed = sum(holds for holds, _ in outcomes.values())
    return passed, len(outcomes) - passed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xlc", type=pathlib.Path, default=ROOT / "build" / "bin" / "xlc", help="the compiler")
    parser.add_argument("--only", default="", help="checks whose names have this regular expression")
    tally.add_option(parser)
    options = parser.parse_args()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs this may ignore it (nohup), and programs would inherit that
    passed, failed = run_checks(options.xlc.resolve(), options.only)
    return tally.end(options.results, passed, failed)


if __name__ == "__main__":
    sys.exit(main())
