"""examples/chargpt: the commands of its README, one after the other. A run that is killed and resumed has the same bits
as an uninterrupted one. With --all, all of its steps are run, and the loss on the held-out text is as far below that of
the table of pairs as README states.
"""

import bz2
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import charts
import files
import program

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "chargpt"
MADE = ("data", "checkpoints", "charts", "train", "train.*", "*.jsonl", "final.safetensors", "prompt.txt")  # by README's commands
STEPS = 150  # in place of README's
AHEAD = 20  # steps behind the first checkpoint: there the run is killed
BELOW = 0.5  # nats a character
GENERATED = 200  # characters, as README's command says


class Example:
    """A copy of the example in which README's commands run, with `xlc` and `python3` of this test."""

    def __init__(self, setting):
        self.folder = setting.scratch / "chargpt"
        shutil.copytree(EXAMPLE, self.folder, ignore=shutil.ignore_patterns(*MADE))
        tools = setting.scratch / "tools"
        tools.mkdir()
        (tools / "xlc").symlink_to(setting.xlc)
        (tools / "python3").symlink_to(sys.executable)
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        blocks = re.findall(r"^```sh\n(.*?)^```$", (self.folder / "README.md").read_text(), re.MULTILINE | re.DOTALL)
        self.commands = "".join(blocks).replace("\\\n", " ").splitlines()

    def use_one_thread(self):
        """Two threads that meet after each kernel are slow where other tests run beside them."""
        spec = self.folder / "chargpt.yaml"
        text, count = re.subn("threads_per_rank: 2", "threads_per_rank: 1", spec.read_text())
        assert count == 1
        spec.write_text(text)

    def find(self, pattern):
        """The only command that has a match."""
        command, = (command for command in self.commands if re.search(pattern, command))
        return command

    def start(self, command):
        return subprocess.Popen(["sh", "-c", f"exec {command}"], cwd=self.folder, env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, command, expect=0):
        with self.start(command) as process:
            said, problems = process.communicate(timeout=1200)
        if process.returncode != expect:
            raise program.CommandFailed(f"'{command}' ended with {process.returncode}, not {expect}:\n{said[-800:]}{problems[-1600:]}")
        return said

    def kill_behind(self, command, step):
        """Starts a run and kills it when it has said that this step is done. Returns how many steps the log has then."""
        with self.start(command) as process:
            for line in process.stdout:
                if re.match(rf"step +{step} ", line):
                    process.kill()
            code = process.wait()
        if code != -signal.SIGKILL:
            raise program.CommandFailed(f"'{command}' ended with {code} before step {step}")
        return len(numbers_of(self.folder / "log.jsonl"))


def numbers_of(log):
    return [(line["step"], line["loss"], line["grad_norm"], line["lr"]) for line in files.read_log(log) if "step" in line]


def with_few_steps(command):
    return re.sub(r"--steps \d+", f"--steps {STEPS}", command)


def goes_on_after_a_kill(setting):
    example = Example(setting)
    example.use_one_thread()
    killed, resumed = example.find("^timeout -s KILL"), example.find("--resume auto --save")
    disturbed = with_few_steps(re.fullmatch(r"timeout -s KILL \d+ (.*)", killed)[1])
    every = int(re.search(r"^checkpoint: .*every: (\d+)", (example.folder / "chargpt.yaml").read_text(), re.MULTILINE)[1])
    for command in example.commands[:example.commands.index(killed)]:
        example.run(command)
    parts = [(example.folder / "data" / f"{name}.bin").read_bytes() for name in ("train", "validation")]
    if b"".join(parts) != bz2.decompress((EXAMPLE / "opticks.txt.bz2").read_bytes()):
        yield "the two files of tokens are not the text"
    done = example.kill_behind(disturbed, every + AHEAD)
    if not every < done < STEPS:
        yield f"the test is void: the run was killed behind step {done}, with a checkpoint every {every}"
    said = example.run(with_few_steps(resumed))
    if not re.search(rf"^step +{every + 1} ", said, re.MULTILINE):
        yield f"the run did not go on behind step {every}: {said[:300]}"
    whole = disturbed.replace("log.jsonl", "whole.jsonl").replace("charts", "whole-charts")
    example.run(f"{whole} --checkpoint-dir whole --save whole.safetensors")
    yield from expect_equal(example)
    said = {command: example.run(command) for command in example.commands[example.commands.index(resumed) + 1:]}
    yield from expect_text(said[example.find("--generate")])


def expect_equal(example):
    """The log and the saved file are those of the run that nothing disturbed, and the charts have each step once."""
    found, expected = (numbers_of(example.folder / name) for name in ("log.jsonl", "whole.jsonl"))
    if found != expected or len(found) != STEPS:
        yield f"{len(found)} lines of the run that was killed and {len(expected)} of the other, which differ"
    saved = [(example.folder / name).read_bytes() for name in ("final.safetensors", "whole.safetensors")]
    if saved[0] != saved[1]:
        yield "the run that was killed has saved other parameters"
    scalars, written = charts.read_charts(example.folder / "charts")
    if written != len(scalars) or sum(tag == "train/loss" for tag, _ in scalars) != STEPS:
        yield f"the charts have {len(scalars)} numbers, of {written} that are not dropped"


def expect_text(said):
    """Exactly as many characters as --generate says, and a newline."""
    text = re.fullmatch(r"(.*)\n", said, re.DOTALL)[1]
    if len(text) != GENERATED:
        yield f"{len(text)} characters were generated, not {GENERATED}: {text!r}"


def learns_more_than_pairs(setting):
    """README's commands as they are."""
    example = Example(setting)
    said = {command: example.run(command, expect=-signal.SIGKILL if command.startswith("timeout -s KILL") else 0)
            for command in example.commands}
    pairs = float(re.search(r"a loss of (\S+)", said[example.find("prepare.py")])[1])
    loss = files.read_evaluations(example.folder / "log.jsonl").popitem()[1]["loss"]
    if not loss < pairs - BELOW:
        yield f"a loss of {loss} on the held-out text, that of the table of pairs is {pairs}"
    yield from expect_text(said[example.find("--generate")])


def list_checks(everything):
    checks = [("chargpt: README's commands, killed and resumed", goes_on_after_a_kill)]
    return checks + [("chargpt: README's commands as they are", learns_more_than_pairs)] * everything
