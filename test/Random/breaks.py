"""Breaks the compiler on purpose, one place at a time, and counts the random programs that it takes to notice.

    breaks.py --tree FOLDER [--only NAME] [--count 200] [--jobs 2]     a tree with a build in it; files are put back
    breaks.py --check                                                  every break still has its place in the source

Each row is a defect that the compiler had once, or a wrong row of a table of rules. Building takes minutes, so this is a
run for a night; that the places are still there is a test of its own. The last line is the summary.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from places import ROOT


@dataclass(frozen=True)
class Break:
    name: str
    file: str
    old: str
    new: str


BREAKS = [
    # An accumulating store is read by others: W1 + W2, two branches that end in a bias.
    Break("read-what-accumulates", "lib/Kernels/KernelGroups.cpp",
          "bool isTemporary = root && adds && (cannotAdd || !isReadOnce(returned.get()));", "bool isTemporary = false;"),
    # A gradient made of pieces is overwritten by each micro-batch.
    Break("overwrite-pieces", "lib/Memory/SlotFunction.cpp", "accumulate[root] = accumulate.lookup(concat.getY());", ""),
    # A value that is passed on and stored is one result of its unit.
    Break("store-what-is-passed-on", "lib/Stage/OutlineUnits.cpp",
          ": outlined.stored.lookupOrDefault(returned.get()));",
          ": outlined.stored.lookupOrDefault(outlined.passedOn.lookupOrDefault(returned.get())));"),
    # The gradient of a mean over a sequence that is cut counts as the same on all ranks.
    Break("broadcast-is-whole", "lib/Shard/LocalOps.cpp", "(isa<BroadcastOp>(local) && !layouts.operands[0].isSplit());", "false;"),
    # Kernels that read other elements than their own become loops over one dimension.
    Break("flatten-all", "lib/Lower/FlattenKernel.cpp", "!op->hasTrait<graph::ReadsOwnElement>() &&", "false &&"),
    # Each chunk of the loss takes the first rows.
    Break("chunks-of-the-first-rows", "lib/Shard/ChunkLoss.cpp", "shape.front() = rows, offsets.front() = from;",
          "shape.front() = rows;"),
    # Gradient rules.
    Break("gradient-of-tanh", "lib/Differentiate/ElementwiseGradients.cpp",
          "b.sub(b.number(1, y), b.mul(y, y))));\n  return success();\n}\n\nLogicalResult gradients::sigmoid",
          "b.sub(b.number(1, y), y)));\n  return success();\n}\n\nLogicalResult gradients::sigmoid"),
    Break("gradient-of-div", "lib/Differentiate/ElementwiseGradients.cpp",
          "b.contribute(1, b.neg(b.mul(share, op->getResult(0))));", "b.contribute(1, b.mul(share, op->getResult(0)));"),
    # Factor rules: a bias that is added on every rank to its part of a sum, a softmax over a dimension that is cut. (A sum
    # that a nonlinear function takes in parts would be found by no program: its gradient needs the whole sum anyway.)
    Break("bias-on-every-rank", "lib/Factors/FactorTable.cpp", '{"graph.add", by<elementwise>, inAll}',
          '{"graph.add", by<elementwise>, in<0b01, 0b10>}'),
    Break("split-softmax", "lib/Factors/FactorTable.cpp", '{"graph.softmax", by<rows<0>>, nonlinear}',
          '{"graph.softmax", by<elementwise>, nonlinear}'),
]


def check(root):
    """Complaints about breaks that have no place, or several."""
    for each in BREAKS:
        found = (root / each.file).read_text().count(each.old)
        if found != 1:
            yield f"{each.name}: {each.file} has its place {found} times"


def build(tree):
    done = subprocess.run(["ninja", "-C", str(tree / "build"), "xlc"], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("the build failed: " + done.stdout[-2000:])


def find(tree, options):
    """How many programs it took, or None."""
    with tempfile.TemporaryDirectory() as keep:
        command = [sys.executable, str(ROOT / "test" / "Random" / "run.py"), "--xlc", str(tree / "build" / "bin" / "xlc"), "--count",
                   str(options.count), "--jobs", str(options.jobs), "--seed", str(options.seed), "--shrink", "0", "--until", "any",
                   "--keep", keep]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = re.search(r"found by case \d+, after (\d+) cases", said)
    first = re.search(r"^WRONG \d+: (.*)", said, re.M)
    return (int(found.group(1)), first.group(1)) if found else (None, said.strip().split("\n")[-1])


def plant(each, options):
    path = options.tree / each.file
    original = path.read_text()
    try:
        path.write_text(original.replace(each.old, each.new))
        build(options.tree)
        count, words = find(options.tree, options)
    finally:
        path.write_text(original)
    print(f"{each.name}: {f'found after {count} programs' if count else 'NOT found'}: {words[:160]}", flush=True)
    return count is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tree", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    complaints = list(check(ROOT if options.check else options.tree))
    if complaints or options.check:
        print("\n".join(complaints) or f"{len(BREAKS)} breaks have their places")
        return int(bool(complaints))
    outcomes = [plant(each, options) for each in BREAKS if re.search(options.only, each.name)]
    build(options.tree)
    print(f"{outcomes.count(True)} of {len(outcomes)} breaks found within {options.count} programs")
    return int(not all(outcomes))


if __name__ == "__main__":
    sys.exit(main())
