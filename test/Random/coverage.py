"""Which ops of the graph dialect random programs reach, in any phase: an op that none reaches is tested by no random program.

    coverage.py [--xlc build/bin/xlc] [--count 150] [--seed 0]

Some minutes, so a run for a night. The ops are those that the dialect's TableGen files define.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import run
from places import ROOT


def defined_ops():
    files = (ROOT / "include" / "xlc" / "Dialect" / "Graph").glob("*.td")
    return {name for file in files for name in re.findall(r'^def \w+ *: *\w+<"([a-z_]+)"', file.read_text(), re.M)}


def reached_ops(case, xlc, folder):
    run.judge.write(case, folder)
    subprocess.run([xlc, "compile", folder / "model.onnx", "--spec", folder / "spec.yaml", "--dump-phases", folder / "phases",
                    "-o", folder / "train"], capture_output=True, check=False)
    return {name for file in folder.glob("phases/*") for name in re.findall(r"\bgraph\.([a-z_]+)", file.read_text())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xlc", type=pathlib.Path, default=ROOT / "build" / "bin" / "xlc")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    ops, counts = defined_ops(), collections.Counter()
    for number in range(options.count):
        with tempfile.TemporaryDirectory() as folder:
            counts.update(ops & reached_ops(run.find_case(options.seed, number), options.xlc, pathlib.Path(folder)))
    for name in sorted(ops, key=lambda name: counts[name]):
        print(f"{counts[name]:5} {name}")
    missing = len(ops) - len(counts)
    print(f"{len(counts)} of {len(ops)} ops in {options.count} programs")
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main())
