"""What is refused because no ONNX file can say it: the module would be trained differently from PyTorch.

What can be seen in the module before it runs is checked here, all of it in one go. What only shows while the module
runs (custom autograd functions, hooks on values, changes in place) is found by _gradients.py.
"""

import torch
from torch import nn


class ExportRefused(RuntimeError):
    """The module does something in training that an ONNX file cannot hold; the message has the place, the reason and a remedy."""


def check_module(module, dynamo=True):
    """Raises ExportRefused with every reason that the module itself gives; `dynamo` selects the exporter."""
    if not isinstance(module, nn.Module) or isinstance(module, (torch.jit.ScriptModule, torch.fx.GraphModule)) or hasattr(
            module, "_orig_mod"):
        raise ExportRefused(f"xlc_export.export needs a torch.nn.Module, not {type(module).__name__}: "
                            "pass the module itself, as it was before tracing, scripting, torch.export or torch.compile")
    reasons = [*_hooks(module), *_modules(module), *_recurrent(module, dynamo), *_storage(module)]
    if reasons:
        raise ExportRefused("; ".join(reasons[:10]) + (f"; and {len(reasons) - 10} more" if len(reasons) > 10 else ""))


def describe(name, module):
    return f"module '{name}' ({type(module).__name__})" if name else f"the module itself ({type(module).__name__})"


def _hooks(module):
    """Hooks that change gradients. Forward hooks run while the module is traced, so that the graph has what they do."""
    help_text = "remove it before the export: a file cannot represent its effect on gradients"
    for name, inner in module.named_modules():
        if inner._backward_hooks or inner._backward_pre_hooks:
            yield f"{describe(name, inner)} has a backward hook; {help_text}"
    for name, parameter in module.named_parameters():
        if parameter._backward_hooks or getattr(parameter, "_post_accumulate_grad_hooks", None):
            yield f"parameter '{name}' has a hook; {help_text}"
    hooks = torch.nn.modules.module
    if hooks._global_backward_hooks or hooks._global_backward_pre_hooks:
        yield f"a backward hook is registered for all modules; {help_text}"


def _modules(module):
    for name, inner in module.named_modules():
        if isinstance(inner, (nn.Embedding, nn.EmbeddingBag)):
            for reason in embedding_reasons(inner.max_norm, inner.scale_grad_by_freq, inner.sparse):
                yield f"{describe(name, inner)} {reason}"
        if isinstance(inner, nn.modules.batchnorm._NormBase) and inner.training and inner.momentum is None:
            yield (f"{describe(name, inner)} has momentum None, so that its running averages depend on the number of steps: set "
                   "momentum to a number")
    synced = [describe(name, inner) for name, inner in module.named_modules()
              if isinstance(inner, nn.SyncBatchNorm) and (inner.training or inner.running_mean is None)]
    if synced:
        more = f" and {len(synced) - 1} more" if synced[1:] else ""
        yield (f"{synced[0]}{more} would normalise over the rows of all ranks, but xlc computes batch norms over one "
               "micro-batch of one rank: use BatchNorm if that is acceptable, or GroupNorm or LayerNorm, whose results do not "
               "depend on the layout")


def _recurrent(module, dynamo):
    """Recurrent modules that exporters write as one operator, and what that operator would lose."""
    for name, inner in module.named_modules():
        if isinstance(inner, (nn.LSTM, nn.GRU)):
            yield (f"{describe(name, inner)} is not supported; write it as a loop over nn.{inner.mode}Cell with a fixed number "
                   "of steps")
        elif isinstance(inner, nn.RNN) and not dynamo:
            yield (f"{describe(name, inner)} is not supported with dynamo=False: export with dynamo=True, or write it as a "
                   "loop over nn.RNNCell")
        elif isinstance(inner, nn.RNNBase) and inner.training and inner.dropout:
            yield (f"{describe(name, inner)} drops elements between its layers (dropout = {inner.dropout}), which is not "
                   "supported: set dropout to 0, or use single-layer modules with a Dropout after each")


def embedding_reasons(max_norm, scale_grad_by_freq, sparse):
    if max_norm is not None:
        yield f"has max_norm = {max_norm}, which changes the table in forward: set it to None"
    if scale_grad_by_freq:
        yield "has scale_grad_by_freq, which a file cannot represent: set it to False"
    if sparse:
        yield "has sparse gradients, which optimizers treat differently: set sparse to False"


def dropout_of(module):
    """The probability with which a module drops elements in training; 0 where it drops none."""
    if isinstance(module, nn.modules.dropout._DropoutNd):
        return module.p
    if isinstance(module, (nn.MultiheadAttention, nn.RNNBase)):
        return module.dropout
    return 0


def without_values(module):
    """Why parameters and buffers that have no values have none."""
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if isinstance(tensor, nn.parameter.UninitializedTensorMixin):
            yield f"'{name}' is not initialised: run the module once before the export"
        elif tensor.device.type == "meta":
            yield f"'{name}' has no values (device meta): initialise it, for example with to_empty and load_state_dict"


def _has_values(tensor):
    return not isinstance(tensor, nn.parameter.UninitializedTensorMixin) and tensor.device.type != "meta"


def _storage(module):
    yield from without_values(module)
    owners = {}
    for name, tensor in filter(lambda entry: _has_values(entry[1]), [*module.named_parameters(), *module.named_buffers()]):
        if not isinstance(tensor, nn.Parameter) or tensor.numel() == 0:
            continue
        first = owners.setdefault(tensor.untyped_storage().data_ptr(), name)
        if first != name:
            yield (f"parameters '{first}' and '{name}' share memory, but are not the same Parameter, so each step changes both: "
                   "make them one Parameter, or copy one of them")
