"""The judge's own arithmetic: reverse-mode differentiation of ONNX nodes in plain Python and float64.

Shares nothing with the compiler: no rule, no import, no splitting into ranks or micro-batches. One row per operator says
its value and its vector-Jacobian product (elementwise.py, moving.py, sums.py); the whole global batch goes through at once.
"""

import choosing
import drawing
import elementwise
import moving
import sums
from rows import FAR
from tensors import Array

ROWS = elementwise.ROWS | moving.ROWS | sums.ROWS | choosing.ROWS | drawing.ROWS
EXACT = moving.EXACT | {"Neg", "Where", "Max", "Min", "ReduceMax", "ReduceMin", "TopK", "RandomUniformLike"}  # round nothing


def as_list(results):
    return results if isinstance(results, list) else [results]


def forward_node(node, values):
    inputs = [values[name] if name else None for name in node.inputs]
    return as_list(ROWS[node.op].forward(node.attributes, *inputs))


def margin_of(node, values):
    row = ROWS[node.op]
    inputs = [values[name] if name else None for name in node.inputs]
    return row.margin(node.attributes, *inputs) if row.margin else FAR


def is_tied(node, values):
    tied = ROWS[node.op].tied
    return bool(tied and tied(node.attributes, *(values[name] if name else None for name in node.inputs)))


def evaluate(network, values, nudge=None):
    """All values of the network from those of inputs and parameters. `nudge(array)` may disturb each result that
    is rounded."""
    values = dict(network.constants) | values
    for node in network.nodes:
        for name, array in zip(node.outputs, forward_node(node, values)):
            values[name] = nudge(array) if nudge and array.kind == "f" and node.op not in EXACT else array
    return values


def added(one, other):
    return other if one is None else Array(one.shape, [a + b for a, b in zip(one.data, other.data)])


def differentiate(network, values, seed):
    """Cotangents of all values, where that of the loss is `seed`."""
    cotangents = {network.loss: seed}
    for node in reversed(network.nodes):
        dy = [cotangents.get(name) for name in node.outputs]
        row = ROWS[node.op]
        if row.backward is None or all(each is None for each in dy):
            continue
        inputs = [values[name] if name else None for name in node.inputs]
        results = [values[name] for name in node.outputs]
        if len(results) == 1:
            results, dy = results[0], dy[0]
        given = [x for x in inputs if x is not None] if inputs and inputs[-1] is None else inputs
        for name, d in zip(node.inputs, row.backward(node.attributes, given, results, dy)):
            if d is not None and name:
                cotangents[name] = added(cotangents.get(name), d)
    return cotangents


def loss_and_cotangent(network, values, ignore_index=None):
    """The loss, and the cotangent of the value `network.loss`, which are scores where labels are given."""
    result = values[network.loss]
    if not network.labels:
        return result.data[0], Array((), [1.0])
    classes = result.shape[-1]
    scores = Array((len(result.data) // classes, classes), result.data)
    inputs = [scores, values[network.labels]]
    attributes = {"ignore_index": ignore_index}
    loss = sums.cross_entropy(attributes, *inputs)
    d = sums.cross_entropy_backward(attributes, inputs, loss, Array((), [1.0]))[0]
    return loss.data[0], Array(result.shape, d.data)


def find_margin(network, values):
    return min((margin_of(node, values) for node in network.nodes), default=FAR)
