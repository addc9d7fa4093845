"""`export`: checks the module, traces it with one of PyTorch's two exporters, finishes the file."""

import contextlib
import inspect
import io
import warnings

import torch
from torch.utils._pytree import tree_iter, tree_map

from . import _draws, _finish, _gradients, _marks, _modes, _record, _reference, _refusals
from ._refusals import ExportRefused

_OWN = {"export_params": True, "keep_initializers_as_inputs": False}  # options that only have this value here


def export(module, args=(), f=None, *, kwargs=None, dynamo=True, optimize=True, external_data=None, training=None,
           do_constant_folding=None, opset_version=None, reference=True, loss=None, labels=None, **options):
    """Exports `module`, called with `args` and `kwargs`, to the ONNX file `f`.

    Takes what torch.onnx.export takes. What differs: parameters and buffers are never folded, merged, transposed or
    renamed, whatever `optimize` says; the module stays in the mode it is in unless `training` is given;
    `external_data` None: only if the file would be too large otherwise. Frozen parameters
    (requires_grad=False), ties, stopped gradients and padding rows are recorded for xlc (docs/Export.md).

    The reference, PyTorch's results on the rows of the arguments, is written beside the file. A module that returns logits
    needs `loss` and `labels` for it (see `xlc_export.reference`); reference=False turns it off.

    A module in eval mode with dropouts or batch norms gets a warning; training=torch.onnx.TrainingMode.EVAL states that this
    is intended.

    Returns what torch.onnx.export returns: an ONNXProgram with dynamo=True, else None. Raises ExportRefused if a
    file cannot express what PyTorch would train.
    """
    for key, value in _OWN.items():
        if options.pop(key, value) != value:
            raise ExportRefused(f"{key} = {not value} is not supported: the file stores the parameters as initializers")
    if f is None:
        raise ExportRefused("f, the path of the file, is missing")
    if isinstance(args, torch.Tensor):
        args = (args,)
    given = args, kwargs
    with _mode(module, training), torch.enable_grad():
        _refusals.check_module(module, dynamo)
        _modes.warn_of_eval(module, training)
        args, kwargs = _own_tensors(module, args, kwargs)
        if not dynamo:
            options["input_names"] = _input_names(module, args, kwargs or {}, options.get("input_names"))
        _refuse_names(module, options.get("input_names"))
        record = _record.make(module, "dynamo" if dynamo else "torchscript")
        trace = _trace_dynamo if dynamo else _trace_torchscript
        model, program, changed, drawn = trace(module, args, kwargs, opset_version, options)
        _refuse_changed_buffers(module, changed)
    tensors = _record.parameters(module) + _record.buffers(module)
    values = _finish.to_inputs(model, tensors, sum(isinstance(x, torch.Tensor) for x in tree_iter((args, kwargs))))
    if dynamo and optimize and not _is_coarse(module):
        program.optimize()
        model = program.model
    _finish.inline(model)
    parameters = {entry["name"] for entry in record["parameters"]}
    _finish.to_initializers(model, values, tensors, parameters.__contains__)
    _finish.replace_marks(model)
    _draws.check(model, drawn)
    _finish.remove_paths(model)
    _finish.count_reads(model, record)
    _finish.check(model)
    _finish.save(model, record, f, external_data)
    with _mode(module, training):
        _reference.beside_export(module, given[0], f, reference, kwargs=given[1], loss=loss, labels=labels,
                                 input_names=options.get("input_names"))
    return program


def _own_tensors(module, args, kwargs):
    """The arguments, no two of them one tensor: of such both exporters read one input, and ask the other for its shape
    alone. A parameter or buffer that is an argument would be that input, too."""
    seen = {id(tensor) for tensor in [*module.parameters(), *module.buffers()]}

    def own(value):
        if isinstance(value, torch.Tensor) and id(value) in seen:
            return value.detach().clone()
        seen.add(id(value))
        return value

    return tree_map(own, (args, kwargs))


def _is_coarse(module):
    """Whether constants would be rounded to a short type on the way, which PyTorch computes in float32."""
    return any(parameter.dtype in (torch.float16, torch.bfloat16) for parameter in module.parameters())


def _input_names(module, args, kwargs, given):
    """A name for each tensor of the arguments: the old exporter would otherwise take those that are free."""
    count = sum(isinstance(x, torch.Tensor) for x in tree_iter((args, kwargs)))
    names = list(given or [])
    if not names and not kwargs and all(isinstance(x, torch.Tensor) for x in args):
        kinds = inspect.signature(module.forward).parameters.values()
        names = [x.name for x in kinds if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)][:count]
    return names + [f"input_{i}" for i in range(len(names), count)]


def _refuse_names(module, inputs):
    for name, _, ties in _record.parameters(module) + _record.buffers(module):
        for taken in {name, *ties} & set(inputs or ()):
            raise ExportRefused(f"'{taken}' is the name of an input and of a parameter or buffer: choose other "
                                "input_names")


def _trace_dynamo(module, args, kwargs, opset_version, options):
    """The model before any optimisation, the program that has it, names of buffers that the module changes, and how many
    of its calls drew random numbers."""
    with _watched(module, _marks.DynamoMarks) as watch, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Exporting a model while it is in training mode", category=UserWarning)
        program = torch.onnx.export(module, args, None, kwargs=kwargs, dynamo=True, optimize=False,
                                    opset_version=opset_version, **options)
    return program.model, program, program.exported_program.graph_signature.buffers_to_mutate.values(), watch.draws


def _trace_torchscript(module, args, kwargs, opset_version, options):
    """The same from the old exporter, which has no program."""
    import onnx
    import onnx_ir as ir

    opset = opset_version or 18
    file = io.BytesIO()
    with (_watched(module, _marks.TorchScriptMarks) as watch, _keeping_buffers(module) as changed,
          _marks.torchscript_translations(opset), warnings.catch_warnings()):
        warnings.filterwarnings("ignore", message="You are using the legacy TorchScript", category=DeprecationWarning)
        # without values (export_params) and as inputs nothing can be merged or folded
        torch.onnx.export(module, args, file, kwargs=kwargs, dynamo=False, opset_version=opset,
                          training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False, export_params=False,
                          keep_initializers_as_inputs=True, **options)
    return ir.from_proto(onnx.load_from_string(file.getvalue())), None, changed, watch.draws


@contextlib.contextmanager
def _mode(module, training):
    """Puts the module into the mode that torch.onnx.TrainingMode says, for a while."""
    wanted = {None: None, torch.onnx.TrainingMode.PRESERVE: None, torch.onnx.TrainingMode.EVAL: False,
              torch.onnx.TrainingMode.TRAINING: True}[training]
    modes = [(inner, inner.training) for inner in module.modules()] if wanted is not None else []
    if wanted is not None:
        module.train(wanted)
    try:
        yield
    finally:
        for inner, mode in modes:
            inner.training = mode


@contextlib.contextmanager
def _watched(module, marks):
    """Watches the module, and lets a refusal out of what exporters wrap around it."""
    with _gradients.watching(module, marks) as watch:
        try:
            yield watch
        except Exception as error:
            if watch.refusal is None or error is watch.refusal:
                raise
            raise watch.refusal from None


def _is_same(a, b):
    """Bit by bit equal, as far as PyTorch tells: batch norms do not count their changes as such."""
    return bool(((a == b) | ((a != a) & (b != b))).all())


@contextlib.contextmanager
def _keeping_buffers(module):
    """Puts buffers back that a real run changes; gives the list of their names."""
    saved = [(name, buffer, buffer._version, buffer.detach().clone()) for name, buffer in module.named_buffers()]
    changed = []
    try:
        yield changed
    finally:
        with torch.no_grad():
            for name, buffer, version, values in saved:
                if buffer._version != version or not _is_same(buffer, values):
                    changed.append(name)
                    buffer.copy_(values)


def _refuse_changed_buffers(module, changed):
    """Only batch norms may change buffers: xlc keeps their running averages."""
    norm = torch.nn.modules.batchnorm._NormBase
    for name in changed:
        path, _, leaf = name.rpartition(".")
        inner = module.get_submodule(path)
        if not isinstance(inner, norm):
            raise ExportRefused(f"{_refusals.describe(path, inner)} changes its buffer '{leaf}' in forward, but the file would "
                                "store its current value as a constant")
