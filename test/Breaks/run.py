#!/usr/bin/env python3
"""Plants plausible mistakes in the compiler and the runtime, one at a time, and shows that the tests find each.

    test/Breaks/run.py [NAME...]       by hand, two minutes for each: it edits sources, builds, and puts the sources back
    test/Breaks/run.py --check         whether every patch still has its place in the source; a lit test

A break is a patch in this folder. Its first line says what is wrong, the second which kind of test has to find it, and which of them:

    found by unit tests: PROGRAM [FILTER]     a GoogleTest program
    found by lit: REGEX                       the lit tests whose names match
    found by end to end: REGEX                the cases of test/EndToEnd/run_matrix.py whose names match

Before and after a kind of test is shortened, its breaks are planted. Where a break is no longer found, a test is missing; a patch
that no longer applies is written anew. test/Random/breaks.py and test/Reference/planted.py do the same for random models and references.
"""

import argparse
import pathlib
import re
import shutil
import signal
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from run_all import LIT  # noqa: E402  pylint: disable=wrong-import-position

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
TOOLS = ("lib/all", "tools/all")  # targets of ninja that compile and run models

# Kind: what is built, what is run, how many passed and how many failed according to what is said.
KINDS = {
    "unit tests": (lambda build, words: words.split()[:1],
                   lambda build, words: [build / "bin" / words.split()[0], *(f"--gtest_filter={word}" for word in words.split()[1:])],
                   r"PASSED  \] (\d+) test", r"FAILED  \] (\d+) test"),
    "lit": (lambda build, words: TOOLS, lambda build, words: [LIT, "--filter", words, build / "test"],
            r"Passed *: *(\d+)", r"Failed *: *(\d+)"),
    "end to end": (lambda build, words: TOOLS,
                   lambda build, words: [sys.executable, ROOT / "test/EndToEnd/run_matrix.py", "--xlc", build / "bin/xlc", "--only", words],
                   r"(\d+) passed, ", r" passed, (\d+) failed"),
}


def read_break(path):
    """(what is wrong, kind, its words)"""
    what, found, *_ = path.read_text().splitlines()
    kind, _, words = found.removeprefix("found by ").partition(": ")
    if not found.startswith("found by ") or kind not in KINDS or not words:
        sys.exit(f"{path.name}: '{found}' names no kind of test")
    return what, kind, words


def run(command):
    return subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def apply(path, *options):
    """What git says against a patch; it needs no repository."""
    return run(["git", "apply", *options, path]).stdout


def judge(build, kind, words):
    """'found', 'missed', or why neither can be said."""
    targets, command, passed, failed = KINDS[kind]
    made = run(["ninja", "-C", build, *targets(build, words)])
    if made.returncode:
        return f"does not compile:\n{made.stdout[-2000:]}"
    done = run(command(build, words))
    counts = [sum(map(int, re.findall(pattern, done.stdout))) for pattern in (passed, failed)]
    if counts[1] or done.returncode < 0:
        return "found"
    return "missed" if counts[0] else f"no test ran:\n{done.stdout[-2000:]}"


def plant(build, path):
    what, kind, words = read_break(path)
    if problem := apply(path):
        return f"does not apply: {problem}"
    try:
        verdict = judge(build, kind, words)
    finally:  # on Ctrl-C too
        problem = apply(path, "-R")
    if problem:
        sys.exit(f"{path.name} cannot be taken back: {problem}")
    return f"{verdict} by {kind}: {what}"


def check(paths):
    if not shutil.which("git"):
        print("git is not here: whether breaks apply was not checked")
        return 0
    problems = [(path, apply(path, "--check")) for path in paths if read_break(path)]
    for path, problem in problems:
        if problem:
            print(f"{path.name} does not apply: {problem}")
    print(f"{sum(not problem for _, problem in problems)} of {len(paths)} breaks apply")
    return any(problem for _, problem in problems)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="of patches, without .patch; all where none is given")
    parser.add_argument("--check", action="store_true", help="only whether they apply")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build tree")
    options = parser.parse_args()
    paths = [FOLDER / f"{name}.patch" for name in options.names] or sorted(FOLDER.glob("*.patch"))
    if options.check:
        return check(paths)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    verdicts = []
    for path in paths:
        verdicts.append(plant(options.build.resolve(), path))
        print(f"{path.stem}: {verdicts[-1]}", flush=True)
    found = sum(verdict.startswith("found") for verdict in verdicts)
    print(f"{found} of {len(verdicts)} breaks found; the build tree has the last one until the next build")
    return found < len(verdicts)


if __name__ == "__main__":
    sys.exit(main())
