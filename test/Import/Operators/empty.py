"""Every case of every operator with each of its operands emptied along each of its dimensions, known and computed.

What must hold: the compiler takes such a node or refuses it by name, and what it takes goes through all of Import. No values
are compared: cases with empty operands stand among the others.

    python3 empty.py FOLDER [EVERY]

EVERY n takes one of n: a tree with sanitizers has not the time for all.
"""

import pathlib
import re
import subprocess
import sys

from model import model, node
from run import CASES, find_operators
from tensors import Array

LOSS = "batch: {micro: 1}\n"


def emptied(array, dim):
    return Array([0 if d == dim else size for d, size in enumerate(array.shape)], [], array.kind)


def variants(case):
    """The operands of the case, one of them without elements."""
    for i, array in enumerate(case.inputs):
        for dim in range(array.rank if array else 0):
            yield [emptied(array, dim) if k == i else other for k, other in enumerate(case.inputs)]


class Program:
    """One model of nodes that read constants, or slices of an input."""

    def __init__(self, opset, is_known):
        self.opset, self.is_known, self.nodes, self.sources = opset, is_known, {}, {"f": 1, "i": 1}

    def constant(self, array, name):
        return node("Constant", [], [name], {"value": array}, name=name)

    def operand(self, array, name, must_be_known):
        if self.is_known or must_be_known or not array.data or array.kind not in "fi":
            return [self.constant(array, name)]
        begin = self.sources[array.kind]
        self.sources[array.kind] += len(array.data)
        bounds = [self.constant(Array([1], [at], "i"), f"{name}.{k}") for k, at in enumerate((begin, begin + len(array.data)))]
        shape = self.constant(Array([array.rank], array.shape, "i"), f"{name}.shape")
        source = {"f": "x", "i": "i"}[array.kind]
        return [*bounds, shape, node("Slice", [source, f"{name}.0", f"{name}.1"], [f"{name}.cut"], name=f"{name}.cut"),
                node("Reshape", [f"{name}.cut", f"{name}.shape"], [name], name=name)]

    def add(self, case, operands):
        name, made, names = f"{case.op} {len(self.nodes)}", [], []
        for i, array in enumerate(operands):
            names.append(f"{name}/{i}" if array else "")
            made += self.operand(array, names[-1], i in case.fixed) if array else []
        wanted = case.want(*case.inputs, site=0) if case.draws else case.want(*case.inputs)
        count = len(wanted) if isinstance(wanted, (list, tuple)) else 1
        made.append(node(case.op, names, [f"{name}/y{k}" for k in range(count)], case.attributes, name=name))
        made.append(node("Cast", [f"{name}/y0"], [f"{name}/cast"], {"to": 1}, name=f"{name}/cast"))
        made += [self.constant(Array([1], [-1], "i"), f"{name}/all"), node("Reshape", [f"{name}/cast", f"{name}/all"], [f"{name}/flat"], name=f"{name}/flat")]
        self.nodes[name] = made

    def encode(self):
        nodes = [item for made in self.nodes.values() for item in made]
        nodes.append(self.constant(Array([1], [0], "i"), "zero"))
        nodes += [node("Slice", ["x", "zero", "one"], ["first"], name="first"), node("Concat", ["first", *(f"{name}/flat" for name in self.nodes)], ["joined"], {"axis": 0}, name="joined"),
                  node("ReduceSum", ["joined"], ["loss"], {"keepdims": 0}, name="loss")]
        flat = [self.constant(Array([1], [-1], "i"), "minus"), self.constant(Array([1], [1], "i"), "one"), node("Reshape", ["xs", "minus"], ["x"], name="x"), node("Reshape", ["is", "minus"], ["i"], name="i")]
        return model(self.opset, flat + nodes, [("xs", "f", [1, self.sources["f"]]), ("is", "i", [1, self.sources["i"]])], ["loss"])


def settle(program, path):
    """Leaves out the nodes that are refused, until the rest is taken. Returns how many were refused."""
    refused = 0
    while True:
        path.write_bytes(program.encode())
        done = subprocess.run(["xlc", "plan", path, "--spec", path.with_suffix(".yaml"), "--stop-after=Import"], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return refused
        bad = {name for name in re.findall(r"error: node '(\w+ \d+)(?:/\w+)?' \(", done.stderr) if name in program.nodes}
        if done.returncode != 1 or not bad:
            sys.exit(f"{path}: exit code {done.returncode}\n{done.stderr[-4000:]}")
        refused += len(bad)
        for name in bad:
            del program.nodes[name]


def main():
    folder, every = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    folder.mkdir(parents=True, exist_ok=True)
    operators, taken, refused, number = find_operators(), 0, 0, 0
    for is_known in (False, True):
        programs = {}
        for case in CASES:
            if case.op in operators and (is_known or operators[case.op] != "known values only"):
                program = programs.setdefault(case.opsets[-1], Program(case.opsets[-1], is_known))
                for operands in variants(case):
                    if number % every == 0:
                        program.add(case, operands)
                    number += 1
        for opset, program in programs.items():
            path = folder / f"empty-{opset}-{'known' if is_known else 'computed'}.onnx"
            path.with_suffix(".yaml").write_text(LOSS)
            refused += settle(program, path)
            taken += len(program.nodes)
    print(f"{taken} nodes with an empty operand were taken, {refused} were refused")


if __name__ == "__main__":
    main()
