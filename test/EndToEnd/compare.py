"""The reference of a run: PyTorch's float64 run of the same global batches, step by step.

Losses alone prove little under AdamW, which is almost invariant to a constant factor on gradients; so norms are
compared too, and parameters wherever float32 rounding leaves them defined.
"""

import json
import math
import pathlib
import re

import finals

LOSS_TOLERANCE = 5e-6  # relative
NORM_TOLERANCE = 5e-5  # relative
SGD_TOLERANCE = 1e-5  # absolute, of parameters
# Under AdamW a gradient near 1e-9 becomes a step by the epsilon of 1e-8. Four times the error of PyTorch's own float32 run
# bounds that while sums are rounded as in that run. A processor with other vectors sums in another order, and so do ranks:
# then some elements in a hundred thousand end farther away. One in ten thousand may, by no more than four times.
OUTLIERS = 1e-4
MADE_UP = re.compile(r"_\d+\.(weight|bias)$")
BUFFERS = ("final_logits_bias", "running_mean", "running_var")  # a program saves these beside its parameters


def relative(found, expected):
    return abs(found - expected) / abs(expected)


def allow(trace, key, step, tolerance):
    """As docs/Families.md: three times what PyTorch's own float32 is away, where that is more and the trace has it."""
    own = trace.get(f"{key}_float32_difference")
    return max(tolerance, 3 * own[step]) if own else tolerance


def compare_steps(log, trace):
    """Complaints about losses and gradient norms."""
    if len(log) != trace["steps"]:
        yield f"{len(log)} steps in the log, not {trace['steps']}"
        return
    for key, tolerance in (("loss", LOSS_TOLERANCE), ("grad_norm", NORM_TOLERANCE)):
        errors = [relative(step[key], expected) for step, expected in zip(log, trace[key])]
        allowed = [allow(trace, key, step, tolerance) for step in range(len(errors))]
        # `not <=` rather than `>`: a NaN is a difference.
        worst = max(range(len(errors)), key=lambda index: (errors[index] != errors[index], errors[index] / allowed[index]))
        if not errors[worst] <= allowed[worst]:
            yield (f"step {worst + 1}: {key} is {log[worst][key]!r}, not {trace[key][worst]!r}: "
                   f"{errors[worst]:.1e} apart, {allowed[worst]:.0e} allowed")


def parameter_tolerance(trace, name):
    """How far a tensor may be from PyTorch's; None where rounding alone decides its value (Adam on zero gradients)."""
    if trace["optimizer"]["type"] == "sgd":
        return SGD_TOLERANCE
    tolerance = 4 * trace["parameter_difference_float32_to_float64"][name] + 1e-6
    return tolerance if tolerance <= trace["optimizer"]["lr"] / 10 else None


def compare_averages(found, folder):
    """Complaints about the running averages of batch norms; averages.json has those of the float64 run of a trace."""
    expected = json.loads((pathlib.Path(__file__).parent / "averages.json").read_text()).get(folder, {})
    for name, values in expected.items():
        difference = max(map(lambda one, other: abs(one - other), found[name][1], values)) if name in found else None
        if difference is None or not difference <= SGD_TOLERANCE:
            yield f"{name} is {difference} from the float64 run's, {SGD_TOLERANCE:.0e} allowed"


def compare_tensor(found, expected, tolerance, farthest):
    """What is wrong with a tensor, and how many of its kept elements are beyond the tolerance, by no more than `farthest` times."""
    differences = [abs(one - other) for one, other in zip(found["elements"], expected["elements"])]
    beyond = [difference for difference in differences if not difference <= tolerance]
    if not all(difference <= farthest * tolerance for difference in beyond):
        worst = max(beyond, key=lambda difference: (difference != difference, difference))
        return f"an element is {worst:.1e} from PyTorch's, {tolerance:.1e} allowed", 0
    for one, other, terms in zip(found["sums"], expected["sums"], finals.terms(math.prod(expected["shape"]))):
        if not abs(one - other) <= (allowed := finals.allowed_in_sum(tolerance, terms, farthest)):
            return f"a sum of {terms} elements is {abs(one - other):.1e} from PyTorch's, {allowed:.1e} allowed", 0
    if not abs(found["norm"] - expected["norm"]) <= (allowed := finals.allowed_in_norm(tolerance)):
        return f"the norm is {abs(found['norm'] - expected['norm']):.1e} from PyTorch's, {allowed:.1e} allowed", 0
    return None, len(beyond)


def compare_parameters(found, trace, final):
    """Complaints about names, shapes and values; `final` is the path of what is kept of PyTorch's parameters, without buffers."""
    expected = finals.read(final)
    kept = sum(len(entry["elements"]) for entry in expected.values())
    has_outliers = trace["optimizer"]["type"] != "sgd"
    outliers = max(1, int(OUTLIERS * kept)) if has_outliers else 0
    found = {name: tensor for name, tensor in found.items() if not name.endswith(BUFFERS)}
    ties = {name for name in found if name not in expected and any(found[name] == found.get(other) for other in expected)}
    found = {name: tensor for name, tensor in found.items() if name not in ties}  # names that a list without ties does not have
    if made_up := sorted(name for name in ties if MADE_UP.search(name)):
        yield f"the old exporter's names of later calls are saved: {made_up[:3]}"
    if set(found) != set(expected):
        yield f"parameters differ in name: {sorted(set(found) ^ set(expected))[:6]}"
        return
    for name, entry in expected.items():
        if list(found[name][0]) != entry["shape"]:
            yield f"{name} has shape {found[name][0]}, PyTorch's has {entry['shape']}"
            continue
        tolerance = parameter_tolerance(trace, name)
        if tolerance is None:
            continue
        wrong, beyond = compare_tensor(finals.describe(*found[name]), entry, tolerance, 4 if has_outliers else 1)
        outliers -= beyond
        if wrong or (beyond and outliers < 0):
            yield f"{name}: {wrong or f'{beyond} elements are farther from PyTorch than {tolerance:.1e}'}"


def compare_stats(stats):
    """Figures of a program about itself (arenas, messages by axis and kind, residual slots): planned is used. What rows were has no plan."""
    for name, figure in stats.items():
        if isinstance(figure, dict) and "planned" in figure and figure.get("used", figure["planned"]) != figure["planned"]:
            yield f"{name}: {figure['planned']} planned, {figure['used']} used"
