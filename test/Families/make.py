"""Exports every family in every form and trains it in PyTorch: make.py OUT [NAME...].

OUT/NAME gets one ONNX file per form and its reference, the rows of each input as .npy, trace.json (what PyTorch does:
float64, and float32 to know what rounding does), final.safetensors, and forms.json: per form the exporter's error, or
how far onnxruntime is from PyTorch on the first rows, which tells an exporter's fault from a compiler's, and why there
is no reference. Families that are there are kept.
"""

import contextlib
import dataclasses
import io
import json
import logging
import pathlib
import signal
import sys
import traceback
import typing
import warnings

import numpy
import torch
import xlc_export as package  # of the checkout; scripts/families has it on its path
from safetensors.torch import save_file

import drops
import family as families_of
import fresh
import kinds
import language
import parts
import vision

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples" / "gpt2"))
import masks  # noqa: E402

EXPORT_SECONDS = 240
EXAMPLE_ROWS = 2


@dataclasses.dataclass
class Form:
    """One way to make the file. `export(module, inputs, path, names, dynamic)`."""
    name: str
    export: typing.Callable
    is_old: bool = False
    is_logits: bool = False


def dynamic_shapes(dims):
    return (tuple({i: name for i, name in enumerate(row) if name} for row in dims),)


def dynamic_axes(names, dims):
    return {name: {i: text for i, text in enumerate(row) if text} for name, row in zip(names, dims)}


def call_new(export, **more):
    def run(module, inputs, path, names, dims, output):
        export(module, inputs, path, input_names=names, output_names=[output], dynamo=True, external_data=False,
               dynamic_shapes=dynamic_shapes(dims), **more)
    return run


def call_old(export, **more):
    def run(module, inputs, path, names, dims, output):
        mode = torch.onnx.TrainingMode
        export(module, inputs, path, input_names=names, output_names=[output], dynamo=False, opset_version=17,
               dynamic_axes=dynamic_axes(names, dims), do_constant_folding=not module.training,
               training=mode.TRAINING if module.training else mode.EVAL, **more)
    return run


def xlc_export(*args, **more):
    package.export(*args, reference=False, **more)  # write_reference makes one of every form, on more rows


FORMS = [Form("loss", call_new(torch.onnx.export)),
         Form("loss-unoptimized", call_new(torch.onnx.export, optimize=False)),
         Form("loss-torchscript", call_old(torch.onnx.export), is_old=True),
         Form("logits", call_new(torch.onnx.export), is_logits=True),
         Form("loss-xlc", call_new(xlc_export)),
         Form("loss-xlc-torchscript", call_old(xlc_export))]


def cast(tensors, dtype):
    return [tensor.to(dtype) if tensor.is_floating_point() else tensor for tensor in tensors]


def train(family, dtype, pieces=1, seed=None):
    """Losses, gradient norms and parameters of PyTorch. `pieces`: each global batch is cut, and the loss is the mean. With a
    seed, initial values are moved by at most half a unit in the last place."""
    module = families_of.make_module(family).to(family.dtype).to(dtype)  # from the values that the file has
    if seed is not None:
        with torch.no_grad():
            for parameter in module.parameters():
                shift = torch.rand(parameter.shape, generator=families_of.generator(seed)) - 0.5
                parameter.mul_(1 + shift * torch.finfo(dtype).eps)
    parameters = [p for p in module.parameters() if p.requires_grad]
    options = {key: value for key, value in family.optimizer.items() if key not in ("type", "clip_norm")}
    kind = torch.optim.SGD if family.optimizer["type"] == "sgd" else torch.optim.AdamW
    optimizer = kind(parameters, **options)
    losses, norms = [], []
    batches = zip(*(tensor.split(families_of.BATCH) for tensor in cast(family.inputs.values(), dtype)))
    for step, rows in enumerate(batches, 1):
        optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for piece in zip(*(tensor.chunk(pieces) for tensor in rows)):
            with masks.drawn(families_of.DRAW_SEED, step) if family.draws else contextlib.nullcontext():
                loss = module(*piece) / pieces
            loss.backward()
            total += loss.item()
        grads = [p.grad for p in parameters if p.grad is not None]
        norms.append(torch.sqrt(sum((grad.double() ** 2).sum() for grad in grads)).item())
        if "clip_norm" in family.optimizer:
            for grad in grads:
                grad.mul_(min(1.0, family.optimizer["clip_norm"] / (norms[-1] + 1e-6)))
        optimizer.step()
        losses.append(total)
    return losses, norms, {name: p.detach().clone() for name, p in module.named_parameters()}


def old_spec(family):
    """What replaces what the old exporter does not write: the family's own keys, and rows without gradient."""
    module = families_of.make_module(family)
    parameters = {name for name, _ in module.named_parameters()}
    rows = {f"{name}.weight": inner.padding_idx for name, inner in module.named_modules()
            if isinstance(inner, torch.nn.Embedding) and inner.padding_idx is not None and f"{name}.weight" in parameters}
    return {**family.old_spec, **({"padding": rows} if rows else {})}


def trace(family, folder, pieces):
    exact = train(family, torch.float64, pieces)
    # Batch norms in deep nets amplify rounding: how much, one run tells badly.
    rounded = [train(family, torch.float32, pieces, seed) for seed in ((None, *range(4)) if family.is_training else (None,))]

    def furthest(k):
        """Of all runs in float32, step by step, the value that is furthest from float64's."""
        return [max(values[1:], key=lambda x: abs(x - values[0])) for values in zip(exact[k], *(run[k] for run in rounded))]

    if any(loss != loss for loss in exact[0]):  # the variance of one row: nothing to compare with
        raise ValueError(f"{family.name} in {pieces} pieces is not a number")
    suffix = "" if pieces == 1 else f"-{pieces}"
    seed = {"init": {"seed": families_of.DRAW_SEED}} if family.draws else {}
    difference = {name: max((run[2][name].double() - value).abs().max().item() for run in rounded)
                  for name, value in exact[2].items()}
    (folder / f"trace{suffix}.json").write_text(json.dumps(
        {"steps": len(exact[0]), "global_batch": families_of.BATCH, "pieces": pieces, "optimizer": family.optimizer,
         "loss": exact[0], "grad_norm": exact[1], "loss_float32": furthest(0), "grad_norm_float32": furthest(1),
         "parameter_difference": difference, "spec": {**family.spec, **seed}, "old_spec": old_spec(family),
         "couples": family.couples, "inputs": list(family.inputs),
         "loss_spec": family.logits.spec if family.logits else None}, indent=1))
    save_file({name: value.float().contiguous() for name, value in exact[2].items()}, folder / f"final{suffix}.safetensors")


def out_of_time(*_):
    raise TimeoutError(f"longer than {EXPORT_SECONDS} s")


def export(family, form, folder):
    """Returns the row of forms.json."""
    path = folder / f"{form.name}.onnx"
    compute = family.logits.compute if form.is_logits else family.loss
    count = len(family.inputs) - form.is_logits
    module = families_of.make_module(family, compute).to(family.dtype)
    names = list(family.inputs)[:count]
    example = tuple(cast([family.inputs[name][:EXAMPLE_ROWS] for name in names], family.dtype))
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(EXPORT_SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # the old exporter prints its graph when it fails
            form.export(module, example, str(path), names, [family.dims[name] for name in names],
                        "logits" if form.is_logits else "loss")
    except (Exception, SystemExit) as error:  # whatever an exporter throws is its answer
        path.unlink(missing_ok=True)
        return {"error": f"{type(error).__name__}: {error}"[-400:]}
    finally:
        signal.alarm(0)
    return {"onnxruntime": None if form.is_logits or family.draws else distance(family, path, names)}


def loss_of(spec):
    """What the key `loss` of a spec says, as a function of logits and labels; classes are the last dimension."""
    def loss(logits, labels):
        if spec.get("shift"):
            logits, labels = logits[:, :-1], labels[:, 1:]
        return torch.nn.functional.cross_entropy(logits.flatten(0, -2), labels.flatten())
    assert spec["type"] == "cross_entropy", spec
    return loss


def write_reference(family, form, folder):
    """PyTorch's loss and gradients on a global batch, beside the file; returns why there are none, or None."""
    names = list(family.inputs)[:len(family.inputs) - form.is_logits]
    compute = family.logits.compute if form.is_logits else family.loss
    module = families_of.make_module(family, compute).to(family.dtype)
    rows = cast([x[:families_of.BATCH] for x in family.inputs.values()], family.dtype)
    labels = list(family.inputs)[-1]
    given = dict(loss=loss_of(family.logits.spec), labels={labels: rows[-1]}) if form.is_logits else {}
    try:
        package.reference(module, tuple(rows[:len(names)]), folder / f"{form.name}.onnx", input_names=names, **given)
    except package.NoReference as error:
        return str(error)
    return None


def distance(family, path, names):
    """Relative distance of onnxruntime's loss from PyTorch's, on the first global batch; None where it cannot run."""
    import onnxruntime
    rows = cast([family.inputs[name][:families_of.BATCH] for name in names], family.dtype)
    onnxruntime.set_default_logger_severity(3)
    options = onnxruntime.SessionOptions()  # it would fuse batch norms in training with convolutions, as in inference
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        found = float(session.run(None, {name: row.numpy() for name, row in zip(names, rows)})[0])
    except Exception:
        return None
    expected = families_of.make_module(family).double()(*cast(rows, torch.float64)).item()
    return abs(found - expected) / max(abs(expected), 1e-12)


def make(family, out, forms):
    folder = out / family.name
    folder.mkdir(parents=True, exist_ok=True)
    known = folder / "forms.json"
    results = json.loads(known.read_text()) if known.exists() else {}
    for name, tensor in family.inputs.items():
        numpy.save(folder / f"{name}.npy", tensor.numpy())
    for form in FORMS:
        if (forms and form.name not in forms) or (form.is_logits and not family.logits):
            continue
        row = results.setdefault(form.name, {})
        if not row:
            row |= export(family, form, folder)
        if "error" not in row and "reference" not in row:
            row["reference"] = write_reference(family, form, folder)
        known.write_text(json.dumps(results, indent=1))
    if not (folder / "trace.json").exists():
        state = families_of.make_module(family).state_dict()
        save_file({name: value.contiguous().clone() for name, value in state.items()}, folder / "initial.safetensors")
        for pieces in (2, 4, 8) if family.couples else ():
            with contextlib.suppress(IndexError, ValueError):  # one value per channel, an index outside: no such cut
                trace(family, folder, pieces)
        trace(family, folder, 1)


def all_families():
    for module in (parts, language, vision, fresh, kinds, drops):
        yield from module.families()


def main(out, names, forms):
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    for family in all_families():
        if names and family.name not in names:
            continue
        try:
            make(family, out, forms)
            print(family.name, flush=True)
        except Exception as error:
            print(f"{family.name}: NOT MADE: {type(error).__name__}: {str(error)[:300]}", flush=True)
            if names:
                traceback.print_exc()


if __name__ == "__main__":
    chosen = [word.removeprefix("--form=") for word in sys.argv[2:] if word.startswith("--form=")]
    torch.set_num_threads(1)
    main(pathlib.Path(sys.argv[1]), [word for word in sys.argv[2:] if not word.startswith("--")], chosen)
