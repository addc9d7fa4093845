"""Hostile files, each with what must become of it: test/Hostile/run.py [--only REGEX] [--keep FOLDER].

What is never right: an outcome other than the one that is written down, a signal, more than 10 seconds or 1 GiB, more than
64 KiB of messages, a byte that a terminal obeys, a message about another file. The last line is `N passed, N failed`.
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import npy_cases
import onnx_cases
import safetensors_cases
import token_cases
import yaml_cases
from cases import Case

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import tally  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "mlp"
MODEL = EXAMPLE / "logits.onnx"
ROWS, WIDTH, CLASSES = 320, 20, 10
SECONDS, BYTES, SAID = 10, 1 << 30, 64 << 10
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def read_shapes(path):
    """Names and shapes of a safetensors file of ours, in its order."""
    data = path.read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    return {name: entry["shape"] for name, entry in header.items() if name != "__metadata__"}


class Corpus:
    """The cases with the commands that try them, in a folder that has a program."""

    def __init__(self, xlc, folder):
        self.xlc, self.folder = xlc, folder
        shutil.copy(EXAMPLE / "x.npy", folder), shutil.copy(EXAMPLE / "y.npy", folder)
        self.spec = folder / "good.yaml"
        self.spec.write_text(yaml_cases.LOSS + "data: {train: .}\nbatch: {global: 16, micro: 16}\n")
        subprocess.run([xlc, "compile", MODEL, "--spec", self.spec, "-o", folder / "train"], check=True)

        for name in ("auto", "uint16"):
            stream = f"{{tokens: none, type: {name}, input: input_ids, labels: labels}}"
            spec = folder / f"{name}.yaml"
            spec.write_text("loss: {type: cross_entropy, logits: logits, labels: labels}\ndims: {sequence: 32}\n"
                            f"batch: {{global: 8, micro: 8}}\ndata: {{train: {stream}}}\n")
            subprocess.run([xlc, "compile", ROOT / "examples" / "gpt2" / "logits.onnx", "--spec", spec, "-o", folder / name], check=True)

    def list(self):
        """(kind, case, file, command)"""
        train = [self.folder / "train", "--steps", "1"]
        shapes = read_shapes(self.folder / "train.safetensors")
        for case in onnx_cases.list_cases():
            plain = self.folder / "plain.yaml"
            plain.write_text(yaml_cases.LOSS)
            yield from self.one("onnx", case, lambda file: [self.xlc, "plan", file, "--spec", plain])
        for case in yaml_cases.list_cases():
            yield from self.one("yaml", case, lambda file: [self.xlc, "plan", MODEL, "--spec", file])
        for name, case in npy_cases.list_cases(ROWS, WIDTH, CLASSES):
            other = "y" if name == "x" else "x"
            yield from self.one("npy", case, lambda file, n=name, o=other: [*train, "--data", f"{n}={file},{o}={self.folder / o}.npy"])
        for name, case in token_cases.list_cases():
            yield from self.one("tokens", case, lambda file, n=name: [self.folder / n, "--steps", "1", "--data", f"tokens={file}"])
        for case in safetensors_cases.list_cases(shapes):
            yield from self.one("safetensors", case, lambda file: [*train, "--data", self.folder, "--init", file])

    def one(self, kind, case, make_command):
        file = self.folder / "files" / f"{kind}-{len(list_of_files):04}.{case.suffix or kind}"
        list_of_files.append(file)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(case.content)
        for suffix, content in case.beside:
            file.with_suffix(f".{suffix}").write_bytes(content)
        yield kind, case, file, make_command(file)


list_of_files = []


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))


def find_fault(case: Case, file, command):
    """What is wrong with how the command took the file, or nothing."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, timeout=SECONDS, check=False, preexec_fn=limit_memory,
                              cwd=file.parent)
    except subprocess.TimeoutExpired:
        return f"more than {SECONDS} s"
    said = done.stderr
    if done.returncode != case.code:
        return f"exit code {done.returncode}, not {case.code}: {said[-300:]!r}"
    if len(said) > SAID:
        return f"{len(said)} bytes of messages"
    try:
        text = said.decode()
    except UnicodeDecodeError:
        return f"messages that are no UTF-8: {said[:300]!r}"
    if raw := CONTROLS.search(text):
        return f"{raw.group()!r} in a message: {text[:300]!r}"
    if case.code == 0:
        return ""
    if case.word not in text:
        return f"no {case.word!r} in {text[-400:]!r}"
    if case.code == 1 and file.name not in text:
        return f"the file is not named: {text[:300]!r}"
    if case.code == 1 and re.search(b"^step ", done.stdout, re.MULTILINE):
        return "it trained before it was refused"
    return "" if "internal error" not in text else text[:300]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xlc", type=pathlib.Path, default=ROOT / "build" / "bin" / "xlc", help="the compiler")
    parser.add_argument("--only", default="", help="cases whose `kind: name` has this regular expression")
    parser.add_argument("--keep", type=pathlib.Path, help="leave the files in this folder")
    tally.add_option(parser)
    options = parser.parse_args()
    failed, counts = 0, {}
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        cases = [case for case in Corpus(options.xlc.resolve(), folder.resolve()).list() if re.search(options.only, f"{case[0]}: {case[1].name}")]
        def look(kind, case, *others):
            with tally.timed(f"{kind}: {case.name}"):
                return find_fault(case, *others)
        for (kind, case, file, _), fault in zip(cases, pool.map(lambda each: look(*each), cases)):
            counts[kind] = counts.get(kind, 0) + 1
            if fault:
                failed += 1
                print(f"FAILED: {kind}: {case.name} ({file.name}): {fault}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return tally.end(options.results, len(cases) - failed, failed)


if __name__ == "__main__":
    sys.exit(main())
