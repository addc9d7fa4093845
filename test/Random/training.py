"""Trains a network by the reference: the losses, gradient norms and final parameters that a program must give.

SGD, Adam and AdamW are PyTorch's definitions; the gradient is that of the loss of the whole global batch.
"""

import fnmatch
import math
from dataclasses import dataclass

import drawing
import reference
from indexing import slice_map, take
from rows import FAR

DEFAULTS = {"type": "adamw", "lr": 1e-3, "momentum": 0.0, "betas": [0.9, 0.999], "eps": 1e-8}


@dataclass
class Trace:
    losses: list
    norms: list
    parameters: dict
    margin: float


def matches(patterns, name):
    """`!` excludes, the last pattern that matches decides."""
    found = False
    for pattern in patterns:
        if fnmatch.fnmatchcase(name, pattern.lstrip("!")):
            found = not pattern.startswith("!")
    return found


def settings_of(optimizer, name):
    settings = DEFAULTS | {"weight_decay": 0.01 if optimizer.get("type", "adamw") == "adamw" else 0.0} | optimizer
    for group in optimizer.get("groups", []):
        if matches(group["match"], name):
            settings |= group
    return settings


def update(settings, values, gradient, state, step):
    """The new values of one parameter; `state` is kept between steps."""
    lr, decay = settings["lr"], settings["weight_decay"]
    if settings["type"] != "adamw":
        gradient = [g + decay * value for g, value in zip(gradient, values)]
    if settings["type"] == "sgd":
        if settings["momentum"]:
            previous = state.get("momentum")
            gradient = [settings["momentum"] * m + g for m, g in zip(previous, gradient)] if previous else gradient
            state["momentum"] = gradient
        return [value - lr * g for value, g in zip(values, gradient)]
    if settings["type"] == "adamw":
        values = [value - lr * decay * value for value in values]
    (one, two), zeros = settings["betas"], [0.0] * len(values)
    state["m"] = [one * m + (1 - one) * g for m, g in zip(state.get("m", zeros), gradient)]
    state["v"] = [two * v + (1 - two) * g * g for v, g in zip(state.get("v", zeros), gradient)]
    return [value - lr * (m / (1 - one ** step)) / (math.sqrt(v / (1 - two ** step)) + settings["eps"])
            for value, m, v in zip(values, state["m"], state["v"])]


def rows(array, begin, count):
    """Of dimension 0, which is the batch."""
    whole = [0] * len(array.shape)
    shape = (count,) + array.shape[1:]
    return take(array, slice_map(array.shape, (begin, *whole[1:]), (1,) * len(shape), shape), shape)


def train(network, data, spec, steps, nudge=None):
    """`data` holds the rows of each input, at least one global batch; they are taken in order, then again."""
    parameters, states = dict(network.parameters), {name: {} for name in network.parameters}
    optimizer, batch = spec.get("optimizer", {}), spec["batch"]["global"]
    trainable = [name for name in parameters if matches(spec.get("trainable", ["*"]), name)]
    trace = Trace([], [], {}, FAR)
    for step in range(1, steps + 1):
        inputs = {name: rows(array, (step - 1) * batch % array.shape[0], batch) for name, array in data.items()}
        drawn = drawing.at_step(network, step)
        values = reference.evaluate(drawn, parameters | inputs, nudge)
        trace.margin = min(trace.margin, reference.find_margin(drawn, values))
        loss, seed = reference.loss_and_cotangent(network, values, spec.get("loss", {}).get("ignore_index", -100))
        cotangents = reference.differentiate(drawn, values, seed)
        # without a gradient, as behind a stop, PyTorch's optimizers leave a parameter as it is: nothing decays it
        gradients = {name: cotangents[name].data for name in trainable if name in cotangents}
        norm = math.sqrt(sum(g * g for gradient in gradients.values() for g in gradient))
        trace.losses.append(loss)
        trace.norms.append(norm)
        clip = min(1.0, optimizer["clip_norm"] / (norm + 1e-6)) if "clip_norm" in optimizer else 1.0
        for name, gradient in gradients.items():
            old = parameters[name]
            new = update(settings_of(optimizer, name), old.data, [clip * g for g in gradient], states[name], step)
            parameters[name] = type(old)(old.shape, new)
    trace.parameters = parameters
    return trace
