"""Makes a failing case small: whatever can be left out, while it still fails in the same way, is left out.

Larger reductions are tried first: a whole rank, a term of the loss, a node and all it needs; then sizes of dimensions. A
reduction that makes no network any more, or another one than meant (samples that meet), does not compile or fails in
another way, and is not taken.
"""

import copy
import math
import random as randoms

import reference
from builder import Reject, check_value, draw_rows, symbolic
from network import Input, Node
from tensors import Array, narrow

RUNS = 200


def way(verdict):
    """How a case fails: all wrong numbers are one way."""
    return "mismatch" if verdict.text.startswith("mismatch") else verdict.signature


def find_dims(network):
    """{value: its symbolic dimensions}; Reject where samples meet before the loss."""
    generator, found = randoms.Random(0), []
    rows = {name: draw_rows(generator, each, 3) for name, each in network.inputs.items() if name != network.labels}
    for count in (2, 3):
        inputs = {name: Array((count,) + array.shape[1:], array.data[:math.prod(array.shape[1:]) * count], array.kind)
                  for name, array in rows.items()}
        try:
            found.append(reference.evaluate(network, dict(network.parameters) | inputs))
        except (ValueError, TypeError, IndexError, KeyError, OverflowError, ZeroDivisionError, AssertionError) as problem:
            raise Reject(str(problem)) from problem
    for name, two in found[0].items():
        if two.shape:
            check_value(two, found[1][name])
    return {name: symbolic(two.shape, found[1][name].shape) for name, two in found[0].items()}


# Layouts -------------------------------------------------------------------------------------------------------------


def simpler_layouts(layout):
    for key, value in (("pp", 1), ("tp", 1), ("dp", 1), ("micro_batches", 1), ("micro", 1), ("dp", 2), ("micro_batches", 2), ("pp", 2),
                       ("tp", 2)):
        if getattr(layout, key) > value:
            other = copy.deepcopy(layout)
            setattr(other, key, value)
            yield other
    for key in ("zero", "zero_stage", "dp_shard", "sequence_parallel", "trainable"):
        if key in layout.spec:
            other = copy.deepcopy(layout)
            del other.spec[key]
            yield other
    if len(layout.spec["optimizer"]) > 2 or layout.spec["optimizer"]["type"] != "sgd":
        other = copy.deepcopy(layout)
        other.spec["optimizer"] = {"type": "sgd", "lr": 0.1}
        yield other
    for key, simplest in (("runtime", {"threads_per_rank": 1}), ("pipeline", {"schedule": "gpipe"})):
        if layout.spec.get(key, simplest) != simplest:
            other = copy.deepcopy(layout)
            other.spec[key] = simplest
            yield other


def tidy(layout, network):
    """Without keys that have no use or name what is gone."""
    spec, names = layout.spec, set(network.parameters) | {name for node in network.nodes for name in node.outputs}
    if layout.pp == 1 or not set(spec.get("pipeline", {}).get("cuts", [])) <= names:
        spec.pop("pipeline", None)
    if layout.pp > 1:
        spec.setdefault("pipeline", {"schedule": "1f1b"})
    if layout.tp == 1:
        spec.pop("sequence_parallel", None)
    if layout.dp != 4 or not spec.get("zero_stage"):
        spec.pop("dp_shard", None)
    if not {name.lstrip("!") for name in spec.get("trainable", [])} <= names | {"*"}:
        spec.pop("trainable", None)
    if any(not any(name.endswith(group["match"][0][1:]) for name in network.parameters)
           for group in spec["optimizer"].get("groups", [])):
        del spec["optimizer"]["groups"]


# Networks ------------------------------------------------------------------------------------------------------------


def with_value(network, old, new):
    """Everybody reads `new` instead of `old`."""
    for node in network.nodes:
        node.inputs = [new if name == old else name for name in node.inputs]
    network.loss = new if network.loss == old else network.loss


def smaller_networks(network):
    """Each without some node: its result is replaced by an operand, an input or a parameter of the same dimensions."""
    dims = find_dims(network)
    is_float = {name: True for name in network.parameters} | {name: each.kind == "f" for name, each in network.inputs.items()}
    for node in reversed(network.nodes):
        for result in node.outputs:
            for operand in dict.fromkeys(node.inputs):
                if operand and dims[operand] == dims[result] and operand not in network.constants:
                    other = network.copy()
                    with_value(other, result, operand)
                    yield other
            leaf = all(is_float.get(name) or not name or name in network.constants for name in node.inputs)
            if node.op in ("Constant", "Cast", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Not") or not dims[result] \
                    or (leaf and len(network.nodes) < 3):
                continue
            other = network.copy()
            if dims[result][0] == -1:
                other.inputs["x_" + result] = Input(dims[result])
                with_value(other, result, "x_" + result)
                yield other
            elif all(size > 0 for size in dims[result]):
                generator = randoms.Random(result)
                data = [narrow(generator.gauss(0, 0.7)) for _ in range(math.prod(dims[result]))]
                other.parameters[f"{result}.weight"] = Array(dims[result], data)
                with_value(other, result, f"{result}.weight")
                yield other


def simpler_losses(network, dims):
    """The mean of a value instead of what follows it."""
    for node in network.nodes:
        for result in node.outputs:
            if dims[result] and any(size < 0 for size in dims[result]) and not network.labels:
                other = network.copy()
                other.nodes.append(Node("ReduceMean", [result], ["mean_" + result], {"keepdims": 0}))
                other.loss = "mean_" + result
                if len(other.used_nodes()[0]) < len(network.nodes):
                    yield other


def resized(array, old, new):
    """With every dimension of size `old` cut to `new`."""
    shape = [new if size == old else size for size in array.shape]
    return Array(shape, array.data[:math.prod(shape)], array.kind)


def smaller_sizes(network):
    sizes = {size for each in network.inputs.values() for size in each.dims} | \
            {size for array in network.parameters.values() for size in array.shape}
    for old in sorted(size for size in sizes if size > 1):
        for new in sorted({1, 2, old // 2, old - 1}):
            for with_constants in (True, False):
                if new >= old:
                    continue
                other = network.copy()
                for each in other.inputs.values():
                    each.dims = [new if size == old else size for size in each.dims]
                other.parameters = {name: resized(array, old, new) for name, array in other.parameters.items()}
                for name, array in other.constants.items():
                    resize = resized(array, old, new) if array.kind != "i" else array
                    data = [new if value == old else value for value in array.data] if with_constants and array.kind == "i" else resize.data
                    other.constants[name] = Array(resize.shape, data, array.kind)
                yield other


# Search --------------------------------------------------------------------------------------------------------------


def fresh_data(case, before):
    """Rows for the inputs that a case has now; those of inputs that stayed as they were are kept."""
    generator, count = randoms.Random(1), case.layout.batch * case.steps
    for name, each in case.network.inputs.items():
        drawn = draw_rows(generator, each, count)
        old = before.get(name)
        same = old is not None and old.shape[1:] == drawn.shape[1:] and old.shape[0] >= case.layout.batch
        case.data[name] = old if same else drawn
    case.data = {name: case.data[name] for name in case.network.inputs}


def candidates(case):
    def make(network=None, layout=None, steps=None):
        other = copy.copy(case)
        other.network, other.layout = network or case.network.copy(), copy.deepcopy(layout or case.layout)
        other.steps, other.data = steps or case.steps, dict(case.data)
        other.network.prune()
        tidy(other.layout, other.network)
        fresh_data(other, case.data)
        return other
    if case.steps > 1:
        yield make(steps=1)
        yield make(steps=2)
    for layout in simpler_layouts(case.layout):
        yield make(layout=layout)
    try:
        dims = find_dims(case.network)
    except Reject:
        return
    networks = [*simpler_losses(case.network, dims), *smaller_networks(case.network), *smaller_sizes(case.network)]
    for network in networks:
        yield make(network=network)


def cost(case):
    layout, network = case.layout, case.network
    return (layout.dp * layout.pp * layout.tp, len(network.nodes), len(network.parameters), layout.batch, case.steps,
            len(repr(layout.spec)), sum(len(array.data) for array in network.parameters.values()),
            sum(math.prod(map(abs, each.dims)) for each in network.inputs.values()), sum(map(len, (network.inputs, network.constants))))


def is_network(case):
    try:
        find_dims(case.network)
    except Reject:
        return False
    return bool(case.network.parameters)


def shrink(case, judge, wanted, runs=RUNS):
    """`judge(case)` gives a Verdict; `wanted` is the way to fail. Returns the smallest case that was found."""
    seen, progress = set(), True
    while progress and runs > 0:
        progress = False
        for other in candidates(case):
            key = repr((other.layout, other.steps)) + repr(other.network)
            if cost(other) >= cost(case) or key in seen or not is_network(other):
                continue
            seen.add(key)
            runs -= 1
            if runs < 0:
                break
            verdict = judge(other)
            if verdict.kind == "wrong" and way(verdict) == wanted:
                case, progress = other, True
                break
    return case


