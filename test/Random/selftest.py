"""The reference against itself: its gradients against central differences, operator by operator, and that it has them all.

Every random network of the first numbers is moved along a random direction of all its parameters; the loss must change as
the gradient says. An operator that no network has is named. What an exporter makes of a network (exporting.py) has its loss.
"""

import dataclasses
import math
import random as randoms
import sys

import exporting
import generate
import reference
import training
from builder import Reject
from elementwise import STOP
from tensors import Array

COUNT, STEP, LIMIT = 900, 1e-5, 1e-6
RARE = {"Xor", "Or", "Flatten"}  # of the rows, those that no move writes


def loss_of(case, parameters):
    inputs = {name: training.rows(array, 0, case.layout.batch) for name, array in case.data.items()}
    values = reference.evaluate(case.network, parameters | inputs)
    return *reference.loss_and_cotangent(case.network, values, -100), values


def moved(parameters, direction, step):
    return {name: Array(array.shape, [value + step * d for value, d in zip(array.data, direction[name])])
            for name, array in parameters.items()}


def hold(case, values):
    """The case with stopped values as constants: what a gradient does not see must not move."""
    network = case.network.copy()
    stopped = {node.outputs[0] for node in network.nodes if STOP in node.attributes}
    network.constants |= {name: values[name] for name in stopped}
    network.nodes = [node for node in network.nodes if node.outputs[0] not in stopped]
    return dataclasses.replace(case, network=network)


def check(case, generator):
    """A complaint, or None."""
    if any(node.op == "ScatterElements" and node.attributes.get("reduction", "none") == "none" for node in case.network.nodes):
        return None  # an update that another one replaces has a gradient all the same, as in PyTorch
    parameters = case.network.parameters
    direction = {name: [generator.gauss(0, 1) for _ in array.data] for name, array in parameters.items()}
    try:
        _, seed, values = loss_of(case, parameters)
    except (ValueError, ZeroDivisionError, OverflowError):  # a square root of what is negative for these samples
        return None
    is_smooth = not any(reference.is_tied(node, values) for node in case.network.nodes)
    if not is_smooth or reference.find_margin(case.network, values) < 100 * STEP:
        return None
    cotangents = reference.differentiate(case.network, values, seed)
    slope = sum(g * d for name in parameters if name in cotangents for g, d in zip(cotangents[name].data, direction[name]))
    case = hold(case, values)
    up, down = (loss_of(case, moved(parameters, direction, step))[0] for step in (STEP, -STEP))
    difference = (up - down) / (2 * STEP)
    if not abs(slope - difference) <= LIMIT * max(1.0, math.sqrt(sum(d * d for part in direction.values() for d in part)), abs(slope)):
        return f"gradient {slope:.9g}, difference {difference:.9g}: {sorted({node.op for node in case.network.nodes})}"
    return None


def export_loss(case, form):
    """Of the file that `form` makes."""
    file = exporting.export(case.network, form)
    values = file.initializers | {name: training.rows(array, 0, case.layout.batch) for name, array in case.data.items()}
    for each in file.nodes:
        made = [each.attributes["value"]] if each.op == "Constant" else reference.forward_node(each, values)
        values |= zip(each.outputs, made)
    return values[file.results[case.network.loss]].data


def check_exports(case):
    """Complaints: exporters lose gradients, and no values."""
    inputs = {name: training.rows(array, 0, case.layout.batch) for name, array in case.data.items()}
    try:
        expected = reference.evaluate(case.network, case.network.parameters | inputs)[case.network.loss].data
    except (ValueError, ZeroDivisionError, OverflowError):
        return
    for form in exporting.FORMS[1:]:
        if exporting.can_write(case.network, form) and export_loss(case, form) != expected:
            yield f"{form} has another loss"


def main():
    generator, seen, complaints, count = randoms.Random(0), set(), [], 0
    for number in range(COUNT):
        try:
            case = generate.generate("self", number)
        except Reject:
            continue
        count += 1
        seen |= {node.op for node in case.network.nodes}
        complaint = check(case, generator)
        complaints += [f"case {number}: {complaint}"] if complaint else []
        complaints += [f"case {number}: {complaint}" for complaint in check_exports(case)]
    complaints += [f"no network has {op}" for op in sorted(reference.ROWS.keys() - seen - RARE)]
    print("\n".join(complaints) or f"{count} networks, {len(seen)} operators")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
