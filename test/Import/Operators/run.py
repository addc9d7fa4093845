"""Runs every case of every operator through the compiler's import and its interpreter, and compares.

All cases of an opset are one model: inputs are cut from two flat ones, results are flattened into one vector. The model
is imported twice, with inputs that are known and with inputs that are not, since an operator has a rule for each.

    python3 run.py FOLDER        writes its files there; fails for a wrong value and for an operator without a case
"""

import math
import pathlib
import re
import struct
import subprocess
import sys

import draws
import elementwise
import lookups
import networks
import reductions
import shapes
import windows
from model import model, node
from tensors import Array, FORMATS, reals

CASES = [case for module in (elementwise, shapes, reductions, lookups, networks, windows, draws) for case in module.CASES]
OPSETS = range(13, 22)
LIMIT = 1e-5  # of the larger one, or of 1: results are printed with six digits


class Program:
    """The model of one opset, and what its vector of results must be."""

    def __init__(self, opset, is_known, operators):
        self.opset, self.is_known = opset, is_known
        self.nodes, self.pieces, self.expected = [], [], []
        self.sites = 0  # nodes that draw, in their order
        self.flat = {"f": [0.0], "i": [0]}
        self.owners = [None]  # the case of each element of the flat floats
        for flat in "xi":
            self.emit("Reshape", [flat, self.constant(Array([1], [-1], "i"))], [flat + "s"])
        self.take("f", [1], [0.0], "anchor")  # something that depends on an input
        self.collect(Array([1], [0.0]), "anchor", None)
        for number, case in enumerate(CASES):
            known_only = operators.get(case.op) == "known values only"
            if case.op in operators and opset in case.opsets and (is_known or not known_only) and (not is_known or case.can_be_known):
                self.add(case, f"c{number}")

    def name(self, stem):
        return f"{stem}.{len(self.nodes)}"

    def emit(self, op, inputs, outputs, **attributes):
        self.nodes.append(node(op, inputs, outputs, attributes, name=outputs[0]))

    def constant(self, array):
        name = self.name("k")
        self.emit("Constant", [], [name], value=array)
        return name

    def take(self, kind, shape, data, name, case=None):
        """An input that nobody knows: a piece of the flat one, of the same width."""
        source = self.flat["f" if kind in "fd" else "i"]
        begin = len(source) - 1 if name == "anchor" else len(source)
        if name != "anchor":
            source.extend(data)
            if source is self.flat["f"]:
                self.owners += [case] * len(data)
        piece, shaped = self.name("p"), name if kind in "fi" else self.name("s")
        bounds = [self.constant(Array([1], [x], "i")) for x in (begin, begin + len(data))]
        self.emit("Slice", ["xs" if kind in "fd" else "is", *bounds], [piece])
        self.emit("Reshape", [piece, self.constant(Array([len(shape)], shape, "i"))], [shaped])
        if shaped != name:
            self.emit("Cast", [shaped], [name], to={"d": 11, "I": 6, "b": 9}[kind])

    def add(self, case, name):
        names = []
        for i, array in enumerate(case.inputs):
            names.append("")
            if array is None:
                continue
            if self.is_known or i in case.fixed or not array.data:
                names[-1] = self.constant(array)
            else:
                names[-1] = f"{name}.{i}"
                self.take(array.kind, array.shape, array.data, names[-1], case)
        wanted = case.want(*case.inputs, site=self.sites) if case.draws else case.want(*case.inputs)
        self.sites += case.draws
        wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        outputs = [f"{name}.y{k}" if array else "" for k, array in enumerate(wanted)]
        self.nodes.append(node(case.op, names, outputs, case.attributes, name=f"{case.op} {name}"))
        for array, output in zip(wanted, outputs):
            if array:
                self.collect(array, output, case)

    def collect(self, array, output, case):
        """Its shape, then its elements."""
        shape = self.name("n")
        self.emit("Shape", [output], [shape])
        for name, values in ((shape, Array([array.rank], array.shape, "i")), (output, array)):
            number, flat = self.name("n"), self.name("r")
            self.emit("Cast", [name], [number], to=1)
            self.emit("Reshape", [number, self.constant(Array([1], [-1], "i"))], [flat])
            if values.data:
                self.pieces.append(flat)
                self.expected += [(case, values, k, name == shape) for k in range(len(values.data))]

    def encode(self):
        self.emit("Concat", self.pieces, ["all"], axis=0)
        self.weights = reals([len(self.expected)], 0.5, 1.5, seed=99)
        self.emit("Mul", ["all", self.constant(self.weights)], ["weighted"])
        self.emit("ReduceSum", ["weighted"], ["loss"], keepdims=0)
        inputs = [("x", "f", [1, len(self.flat["f"])]), ("i", "i", [1, len(self.flat["i"])])]
        return model(self.opset, self.nodes, inputs, ["loss"])


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(" ".join(map(str, command)) + "\n" + result.stderr[-4000:])
    return result.stdout


def literal(array):
    data = struct.pack(f"<{len(array.data)}{FORMATS[array.kind]}", *array.data).hex().upper()
    kind = {"f": "f32", "i": "i64"}[array.kind]
    values = f'"0x{data}"' if len(array.data) > 1 else f"{array.data[0]}"
    return f"dense<{values}> : tensor<1x{len(array.data)}x{kind}>"


def make_runnable(ir, flat, result=None):
    """The function without arguments, that returns the vector of results, or `result`, instead of the loss."""
    vector = result or re.findall(r"^ *(%\w+) = graph\.concat .*-> (tensor<\d+xf32>)$", ir, re.M)[-1]
    head = re.search(r"func\.func @\w+\((.*)\) -> .*\{$", ir, re.M)
    arguments = dict((name, argument) for argument, name in
                     re.findall(r'(%\w+): tensor<[^>]*> \{[^}]*graph\.(?:input|param) = "(@?\w+)"[^}]*\}', head.group(1)))
    constants = [f"    {arguments[name]} = graph.constant {literal(Array([len(data)], data, kind))}"
                 for name, kind, data in (("x", "f", flat["f"]), ("i", "i", flat["i"]))]
    if "@sample" in arguments:  # the one row of the batch is the first
        constants.append(f"    {arguments['@sample']} = graph.constant dense<0> : tensor<1xi64>")
    ir = ir.replace(head.group(0), f"func.func @forward() -> {vector[1]} {{\n" + "\n".join(constants))
    return re.sub(r"^ *return .*$", f"    return {vector[0]} : {vector[1]}", ir, flags=re.M)


def interpret(ir, path):
    path.write_text(ir)
    printed = run(["xlc-opt", "--xlc-interpret", path])
    return [float(x) for x in re.search(r"^// forward\.0: [^\[]*\[(.*)\]$", printed, re.M).group(1).split(", ")]


def import_program(program, folder):
    stem = folder / f"opset{program.opset}-{'known' if program.is_known else 'unknown'}"
    stem.with_suffix(".onnx").write_bytes(program.encode())
    stem.with_suffix(".yaml").write_text("batch: {micro: 1}\n")
    return run(["xlc", "plan", stem.with_suffix(".onnx"), "--spec", stem.with_suffix(".yaml"), "--stop-after=Import",
                "--no-raise"])


def evaluate(program, folder):
    ir = make_runnable(import_program(program, folder), program.flat)
    return interpret(ir, folder / f"opset{program.opset}-{'known' if program.is_known else 'unknown'}.mlir")


def agree(actual, wanted):
    if math.isnan(wanted) or math.isnan(actual):
        return math.isnan(wanted) and math.isnan(actual)
    return actual == wanted or abs(actual - wanted) <= LIMIT * max(1, abs(actual), abs(wanted))


# Lists of tensors and branches have no values of their own: sequences.test and branches.test.
TESTED_BY_THEIR_IR = {"ConcatFromSequence", "If", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase",
                      "SequenceInsert", "SequenceLength", "SequenceMap", "SplitToSequence"}


def find_operators():
    """What `xlc docs operators` says that each becomes."""
    page = run(["xlc", "docs", "operators"]).split("## Left out")[0]
    return dict(re.findall(r"^\| (\w+) +\| (.*?) +\|$", page, re.M)[1:])


def check_coverage(operators):
    """Each operator of ONNX has a row, or a reason why it has none."""
    left_out = set(re.findall(r"^\| (\w+) +\|", run(["xlc", "docs", "operators"]).split("## Left out")[1], re.M))
    known = pathlib.Path(__file__).with_name("onnx-operators.txt").read_text().split("\n")
    for op in filter(lambda line: line and not line.startswith("#"), known):
        if (op in operators) == (op in left_out):
            yield f"{op} has {'a row and a reason to have none' if op in left_out else 'neither a row nor a reason'}"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    operators = find_operators()
    complaints, count = list(check_coverage(operators)), 0
    for op in sorted(operators.keys() - {case.op for case in CASES} - TESTED_BY_THEIR_IR):
        complaints.append(f"{op} has no case")
    for opset in OPSETS:
        for is_known in (False, True):
            program = Program(opset, is_known, operators)
            actual = evaluate(program, folder)
            assert len(actual) == len(program.expected), (opset, len(actual), len(program.expected))
            wrong = set()
            for value, (case, array, k, is_shape) in zip(actual, program.expected):
                count += 1
                wanted = float(array.data[k])
                if not agree(value, wanted) and case not in wrong:
                    wrong.add(case)
                    complaints.append(f"opset {opset}, {'known' if is_known else 'unknown'}: {case}: "
                                      f"{'dimension' if is_shape else 'element'} {k} is {value}, expected {wanted}")
    print("\n".join(complaints) or f"{len(operators)} operators, {len(CASES)} cases, {count} values")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
