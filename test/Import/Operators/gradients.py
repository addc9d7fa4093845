"""Gradients of every case against central differences: what an import rule composes must have one, and a finite one.

The cases are independent of each other, so one step along a random direction changes each by its own derivative. Where
steps up and down differ (at a kink) only the gradient's being a number is checked.

    python3 gradients.py FOLDER
"""

import math
import pathlib
import re
import sys

import run
from tensors import narrow, reals

STEP = 2.0 ** -8
LIMIT = 0.02  # of the larger one, or of 1: values are printed with six digits
PRINTABLE = 20  # six digits of a larger result do not show the difference
# Vertical tangents at the ends of their domains.
EXEMPT = {"Sqrt", "Asin", "Acos", "Acosh"}


def sum_by_case(program, results):
    sums = {}
    for value, weight, (case, _, _, is_shape) in zip(results, program.weights.data, program.expected):
        if case and not is_shape and math.isfinite(value):
            sums[case] = sums.get(case, 0) + value * weight
    return sums


def moved(program, direction, step):
    return {"f": [narrow(x + step * d) for x, d in zip(program.flat["f"], direction)], "i": program.flat["i"]}


def find_gradient(program, ir, folder):
    path = folder / "gradients-forward.mlir"
    path.write_text(ir.replace('graph.input = "x"', 'graph.param = "x"'))
    backward = run.run(["xlc-opt", "--xlc-differentiate", path])
    gradient = re.search(r"^ *return %\w+, %\w+, (%\w+) : .*, (tensor<\S+>)$", backward, re.M).groups()
    return run.interpret(run.make_runnable(backward, program.flat, gradient), folder / "gradients-backward.mlir")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    program = run.Program(21, False, run.find_operators())
    ir = run.import_program(program, folder)
    gradient = find_gradient(program, ir, folder)
    direction = reals([len(gradient)], -1, 1, seed=77).data
    points = [moved(program, direction, step) for step in (-STEP, 0, STEP)]
    low, middle, high = (sum_by_case(program, run.interpret(run.make_runnable(ir, flat), folder / f"gradients-{k}.mlir"))
                         for k, flat in enumerate(points))
    slopes, complaints, compared = {}, [], 0
    for case, slope, down, up in zip(program.owners, gradient, points[0]["f"], points[2]["f"]):
        if math.isfinite(down):
            slopes[case] = slopes.get(case, 0) + slope * (up - down) / 2
    coarse = {case for case, array, k, _ in program.expected if abs(array.data[k]) > PRINTABLE}
    for case in low.keys() & middle.keys() & high.keys() & slopes.keys():
        if not math.isfinite(slopes[case]):
            if case.op not in EXEMPT:
                complaints.append(f"{case}: its gradient is {slopes[case]}")
            continue
        change, bend = (high[case] - low[case]) / 2, abs(high[case] - 2 * middle[case] + low[case])
        if bend > 0.02 * (abs(change) + STEP) or case in coarse or not case.has_slope:
            continue
        compared += 1
        if abs(slopes[case] - change) > LIMIT * max(STEP, abs(change), abs(slopes[case])):
            complaints.append(f"{case}: gradient {slopes[case] / STEP:.6g}, difference {change / STEP:.6g}")
    print("\n".join(sorted(complaints)) or f"{compared} of {len(slopes) - 1} gradients compared")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
