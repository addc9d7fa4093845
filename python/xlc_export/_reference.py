"""`reference`: what PyTorch computes on a few rows, in a small file beside the model, by which xlc judges what it compiled.

The loss, and of each trained parameter's gradient the norm and sixteen projections (_projections.py), in float64 where
the module runs in it, and again in float32, which tells how far rounding goes. docs/Export.md has the format.
"""

import contextlib
import json
import os
import pathlib
import warnings

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from . import _draws, _evaluate, _inputs, _projections, _record, _refusals, _rows, _run, _safetensors
from ._inputs import NoReference

VERSION = 1
SHAKES = (None, 1, 2)  # runs in float32: as it is, and from initial values that differ in their last bit
LARGE_MODEL = 20_000_000  # elements of parameters from which on two of them do
LARGEST_BUFFER = 4096  # elements that are stored; of more, norm and projections
LARGEST_INPUT = 1 << 19  # bytes
LEAST_ROWS, LEAST_ROWS_OF_NORMS = 2, 4  # a batch norm of two values gives 1 and -1
FORWARD_DISTANCE, NARROW_DISTANCE = 1e-4, 5e-2  # of losses, relative; of short types


def path_of(model):
    """Where the reference of the file `model` lies."""
    return pathlib.Path(model).with_suffix(".reference.safetensors")


def reference(module, args, path, *, kwargs=None, loss=None, labels=None, input_names=None, dtype=torch.float64):
    """Writes the reference of `module`, called with `args` and `kwargs`, beside the ONNX file `path` that was made of it.

    The module gives its loss; where it ends in logits, `loss(logits, labels)` does, and `labels` is a tensor of rows or
    {name: tensor}, the name being what the spec calls them. `input_names` are the file's names of the tensors among the
    arguments, in their order, where they cannot be told. `dtype` torch.float32 saves memory. The module is left as it
    was. Returns the path of the reference; raises NoReference.
    """
    args = (args,) if isinstance(args, torch.Tensor) else tuple(args)
    _refuse(module, loss, labels, path)
    leaves, structure = tree_flatten((args, dict(kwargs or {})))
    graph = _inputs.graph_inputs(path)
    places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
    names = _inputs.names_of(module, args, kwargs or {}, [leaves[i] for i in places], graph, input_names)
    inputs = [_rows.Input(name, leaves[i].detach().cpu()) for name, i in zip(names, places)]
    if labels is not None:
        name, value = next(iter(labels.items())) if isinstance(labels, dict) else ("labels", labels)
        inputs.append(_rows.Input(name, value.detach().cpu()))
    _inputs.find_batch(inputs, graph)
    device = next((x.device for x in module.parameters()), torch.device("cpu"))

    def call_with(rows):
        values = [x.value.to(device) for x in rows]

        def call(module, cast):
            filled = list(leaves)
            for i, value in zip(places, values):
                filled[i] = cast(value)
            args, kwargs = tree_unflatten(filled, structure)
            output = module(*args, **kwargs)
            found = _run.scalar_of(output) if loss is None else loss(_run.logits_of(output), cast(values[-1]))
            if found is None or found.numel() != 1:
                raise NoReference("the module does not return a scalar loss: pass loss= (a function of logits and labels) and "
                                  "labels= (rows of labels)")
            return output, found.reshape(())
        return call

    with _run.unchanged(module), warnings.catch_warnings(action="ignore"):
        rows, dtype, exact = _first_run(module, inputs, call_with, dtype)
        shakes = SHAKES[:2] if sum(x.numel() for x in module.parameters()) > LARGE_MODEL else SHAKES
        rounded = [_rounded(module, call_with(rows), dtype, shake) for shake in shakes]
    _warn_of_size(rows)
    far = _furthest(exact, rounded)
    tensors = {"loss": _number(exact.loss), "loss.float32": _number(far.loss), "gradients": exact.gradients,
               "gradients.float32": far.gradients}
    is_unmatched = {x.name: x.name not in graph for x in inputs[:len(places)]}
    projected = []
    for name, value in exact.buffers.items():
        is_large = value.numel() > LARGEST_BUFFER
        projected += [name] if is_large else []
        for kind, each in ("buffer", value), ("begin", exact.begin[name]):
            tensors[f"{kind}.{name}"] = _projections.describe(each) if is_large else each.cpu()
    for x in rows:
        if not is_unmatched.get(x.name):
            tensors[f"input.{x.name}"] = _inputs.stored(x, graph.get(x.name))
    feed = {x.name: x.value.to(_inputs.torch_type(graph[x.name]) or x.value.dtype) for x in rows if x.name in graph}
    forward = _forward(path, feed, exact, far, loss, rows[-1].value if loss else None, _run.own_dtypes(module))
    document = {
        "version": VERSION, "torch": torch.__version__, "dtype": str(dtype).removeprefix("torch."),
        "training": _is_training(module), "rows": _inputs.count(rows), "loss": "given" if loss else "model",
        "labels": rows[-1].name if loss else None,
        "parameters": [name for name, x, _ in _record.parameters(module) if x.requires_grad],
        "buffers": list(exact.buffers), "projected": projected,
        "frozen": [name for name, x, _ in _record.parameters(module) if not x.requires_grad],
        "ties": {name: ties for name, _, ties in _record.parameters(module) if ties},
        "scales": {x.name: x.scale for x in rows if x.scale},
        "unmatched": [name for name, is_so in is_unmatched.items() if is_so],
        "forward": forward,
    }
    target = path_of(path)
    target.write_bytes(_safetensors.dump(tensors, {"xlc.reference": json.dumps(document, separators=(",", ":"))}))
    return target


def beside_export(module, args, path, is_wanted, **options):
    """The reference of a file that was just exported, where one is wanted; what stands in the way is a warning."""
    target = path_of(path)
    target.unlink(missing_ok=True)  # that of an older file
    if not is_wanted:
        return
    try:
        reference(module, args, path, **options)
    except NoReference as error:
        warnings.warn(f"no reference is written beside {path}: {error} (reference=False omits the reference)")


def _refuse(module, loss, labels, path):
    if not isinstance(module, torch.nn.Module):
        raise NoReference(f"a reference needs a torch.nn.Module, not {type(module).__name__}")
    if (loss is None) != (labels is None):
        raise NoReference("loss= and labels= must be given together: a function of logits and labels, and rows of labels")
    for reason in _refusals.without_values(module):
        raise NoReference(reason)
    if kinds := _draws.kinds_of(path):
        raise NoReference(f"the file draws random numbers ({', '.join(kinds)}), but PyTorch would draw different ones: remove "
                          "all of them except dropouts, which a reference turns off")


# --- runs


def _is_training(module):
    norms = [inner.training for inner in module.modules() if isinstance(inner, torch.nn.modules.batchnorm._NormBase)]
    return any(norms) if norms else module.training


def _first_run(module, inputs, call_with, dtype):
    """The rows, the type and the result of the first attempt that gives a finite loss: made rows come first, since the
    example's may tell nothing; but only those are sure to be what the module takes."""
    norms = any(inner.training for inner in module.modules() if isinstance(inner, torch.nn.modules.batchnorm._BatchNorm))
    least = LEAST_ROWS_OF_NORMS if norms else LEAST_ROWS
    _probe(module, inputs, call_with)
    attempts = [lambda: _rows.made(inputs, least), lambda: _rows.cut(inputs, least), lambda: inputs]
    first = None
    for attempt in attempts:
        rows = _rows.quantised(attempt())
        for kind in dict.fromkeys((dtype, torch.float32)):
            try:
                result = _run.run(module, call_with(rows), kind)
            except NoReference:
                raise
            except Exception as error:  # whatever the module's own code throws
                first = first or error
                continue
            if torch.isfinite(torch.tensor(result.loss)) and torch.isfinite(result.gradients).all():
                return rows, kind, result
            first = first or NoReference(f"the loss is {result.loss}, or a gradient is not finite")
    raise NoReference(f"the module fails on these rows: {type(first).__name__}: {first}") from first


def _probe(module, inputs, call_with):
    """Notes which inputs index tables, as far as a run on the example shows."""
    seen = [x.with_value(x.value.clone()) for x in inputs]
    with contextlib.suppress(Exception), _run.precision(module, torch.float32), torch.no_grad(), _rows.Limits(seen):
        call_with(seen)(module, _run.caster(torch.float32))
    for x, found in zip(inputs, seen):
        x.limit = found.limit


def _rounded(module, call, dtype, shake):
    """A run in float32. Where the first run was one, sums run in another order: by one thread, by other kernels."""
    if dtype != torch.float32:
        return _run.run(module, call, torch.float32, shake)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        with torch.backends.mkldnn.flags(enabled=False):
            return _run.run(module, call, torch.float32, shake)
    finally:
        torch.set_num_threads(threads)


def _furthest(exact, results):
    """Of each number the one that is furthest from the exact one: one run tells badly how far rounding goes."""
    stacked = torch.stack([x.gradients for x in results])
    at = (stacked - exact.gradients).abs().argmax(0, keepdim=True)
    loss = max((x.loss for x in results), key=lambda x: abs(x - exact.loss))
    return _run.Result(loss, stacked.gather(0, at)[0], {}, {}, None)


def _number(x):
    return torch.tensor([x], dtype=torch.float64)


def _warn_of_size(rows):
    for x in rows:
        size = x.value.numel() * (1 if x.scale else x.value.element_size())
        if size > LARGEST_INPUT:
            warnings.warn(f"the reference holds {size >> 10} KiB of input '{x.name}': use an example with smaller rows")


# --- the file's forward


def _forward(path, feed, exact, far, loss, labels, own):
    """What the file gives, and a warning where that is not PyTorch's."""
    evaluator, outputs = _evaluate.evaluate(os.fspath(path), feed)
    found = _loss_of(outputs, exact, loss, labels) if outputs else None
    limit = max((NARROW_DISTANCE if own - {torch.float32, torch.float64} else FORWARD_DISTANCE) * abs(exact.loss),
                10 * abs(far.loss - exact.loss), 1e-6)
    if found is not None and not abs(found - exact.loss) <= limit:
        warnings.warn(f"{path}: the file's loss is {found:.9g} by {evaluator}, PyTorch's is {exact.loss:.9g} on the same rows: "
                      "the file does not compute the same function as the module")
    return {"evaluator": evaluator, "loss": found}


def _loss_of(outputs, exact, loss, labels):
    values = {name: torch.as_tensor(x) for name, x in outputs.items()}
    if loss is None:
        found = values.get("loss", next((x for x in values.values() if x.numel() == 1), None))
        return None if found is None or found.numel() != 1 else found.item()
    shape = _run.logits_of(exact.output).shape
    found = next((x for x in values.values() if x.shape == shape), None)
    return None if found is None else loss(found.float(), labels).item()
