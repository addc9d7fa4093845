"""What programs print and where: streams that are closed or full, readers that go away, pipes, logs of two programs."""

import os
import re
import signal
import subprocess
import time

from bench import MODEL, expect


def streams_that_are_closed(bench):
    """Closed or full descriptors are no reason to crash, and no file gets the place of one."""
    bench.compile()
    for streams in ("2>&-", ">&-", "<&- >&- 2>&-"):
        for command, code in (("plan", 1), ("inspect", 1), ("verify", 1)):
            words = f"{bench.xlc} {command} {MODEL} {'' if command == 'inspect' else '--spec s.yaml'} {streams}"
            done = subprocess.run(["sh", "-c", words], cwd=bench.folder, stdout=subprocess.PIPE, timeout=60, check=False)
            expect(done.returncode == (0 if streams == "2>&-" else code), f"{words}: {done.returncode}")
            expect(bool(done.stdout) == (streams == "2>&-"), words)
    for streams in (">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(["sh", "-c", f"./train --steps 2 --log log --save w {streams}"], cwd=bench.folder,
                              capture_output=True, timeout=60, check=False)
        expect(done.returncode in (0, 1), f"{streams}: {done.returncode}")
        expect(len((bench.folder / "log").read_text().splitlines()) == 2, streams)
        bench.run("./train", "--steps", "1", "--init", "w")
    for command in (f"{bench.xlc} plan {MODEL} --spec s.yaml", f"{bench.xlc} inspect {MODEL}", "./train --steps 1"):
        done = subprocess.run(["sh", "-c", f"{command} > /dev/full"], cwd=bench.folder, capture_output=True, text=True,
                              timeout=60, check=False)
        expect(done.returncode == 1 and "cannot" in done.stderr, f"{command}: {done.returncode} {done.stderr}")


def readers_that_go_away(bench):
    """Training goes on, and saves, where the reader of its lines (stdout, a pipe for --log) has gone."""
    bench.compile()
    for command in ("./train --steps 2000 --save w | head -2", "./train --steps 2000 --save w 2>&1 | head -2",
                    "mkfifo p; (head -2 p > read &) ; ./train --steps 2000 --save w --log p > /dev/null"):
        done = subprocess.run(["sh", "-c", command], cwd=bench.folder, capture_output=True, text=True, timeout=60, check=False)
        expect("2>&1" in command or done.stderr.count("Broken pipe") == 2, done.stderr)  # when it happens, and at the end
        bench.run("./train", "--steps", "1", "--init", "w")
        (bench.folder / "w").unlink()


def outputs_that_are_pipes(bench):
    """--log and --stats write into pipes under the names that shells give them, and not over what stdout has."""
    bench.compile()
    for target in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        said = bench.run("./train", "--steps", "2", "--log", target)
        expect(said.count('{"step":') == 2 and said.count("step    ") == 2, said)
    expect('"vm_hwm"' in bench.run("./train", "--steps", "1", "--stats", "/dev/stdout"), "no stats")
    done = subprocess.run(["sh", "-c", "./train --steps 2 --log /dev/stdout > out"], cwd=bench.folder, capture_output=True, text=True,
                          timeout=60, check=False)
    expect(done.returncode == 1 and "--log would overwrite the standard output" in done.stderr, done.stderr)


def two_programs_with_one_log(bench):
    """Of two programs that write one log the second is refused; the log is the first one's."""
    bench.compile()
    first = bench.start("./train", "--steps", "100000000", "--log", "both")
    first.stdout.readline()
    bench.run("./train", "--steps", "3", "--log", "both", code=1, says="both: error: cannot be written: another program is writing its log to this file")
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=20)
    steps = [int(re.match(r'{"step":(\d+),', line)[1]) for line in (bench.folder / "both").read_text().splitlines()]
    expect(steps == list(range(1, len(steps) + 1)), "lines are broken or lost")
    bench.run("./train", "--steps", "3", "--log", "both")


def values_that_are_empty(bench):
    """An option with an empty value is wrong usage, not an option that is left out; no argument reaches the terminal as it is."""
    bench.compile(output="train")
    bench.run(bench.xlc, "compile", MODEL, "--spec", "s.yaml", "-o", "", code=2, says="--output: the value is empty")
    for option in ("--log", "--save", "--init", "--data", "--profile", "--stats"):
        bench.run("./train", option, "", code=2, says=f"{option}: the value is empty")
    for command in ((bench.xlc, "plan"), ("./train",)):
        expect("\x1b" not in bench.run(*command, "--\x1b[2J", code=2), "an escape sequence was printed")


def pipes_without_an_end(bench):
    """A pipe that should be a file is refused at once, by everything that opens one."""
    bench.compile()
    os.mkfifo(bench.folder / "p")
    bench.run("./train", "--data", "x=p,y=y.npy", code=1, says="p: error: cannot be read: not a regular file")
    bench.run("./train", "--init", "p", code=1, says="p: error: cannot be read: not a regular file")
    bench.run(bench.xlc, "plan", "p", "--spec", "s.yaml", code=1, says="p: error:")
    bench.run(bench.xlc, "plan", MODEL, "--spec", "p", code=1, says="error:")
    for option in ("--save", "--profile", "--stats"):
        bench.run("./train", "--steps", "1", option, "p", code=1, says="p: error: cannot be written")
    process = bench.start("./train", "--steps", "1", "--log", "p")  # waits for a reader, as a shell's > does
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)
