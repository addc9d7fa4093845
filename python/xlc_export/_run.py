"""Runs a module forwards and backwards once, in a precision of choice, and leaves it as it was.

Dropout drops nothing. Modes, and so batch norms, are as they are. What the code of the module casts to float32 is cast
to float64 where that is the precision, so that it is the whole way; limits of a type (finfo) are those of the module's
own type, since the file has those.
"""

import contextlib
import dataclasses

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_iter, tree_map

from . import _projections, _record

_NARROW = (torch.float16, torch.bfloat16)
_ALWAYS_OFF = {F.dropout, F.alpha_dropout, F.feature_alpha_dropout, F.dropout1d, F.dropout2d, F.dropout3d, torch.dropout,
               torch.dropout_, torch.alpha_dropout, torch.alpha_dropout_, torch.feature_dropout, torch.feature_dropout_,
               torch.feature_alpha_dropout, torch.feature_alpha_dropout_}
_RATIO_AT = {F.scaled_dot_product_attention: 4, F.multi_head_attention_forward: 10}  # where dropout_p is an argument
_DROPS_PATHS = {"DropPath", "StochasticDepth", "DropBlock2d"}  # modules of timm and torchvision that drop whole branches
_TO_FLOAT = {torch.Tensor.float}


class Precision(TorchFunctionMode):
    """While it is active, dropout is off and floating-point types are `dtype`."""

    def __init__(self, dtype, own):
        super().__init__()
        self.dtype = dtype
        self.replaced = {*own & set(_NARROW), torch.float32} - {dtype}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in _ALWAYS_OFF:
            return args[0] if args else kwargs["input"]
        if func is F.rrelu:
            kwargs = {**kwargs, "training": False}
            args = args[:3]
        if func in _RATIO_AT:
            place = _RATIO_AT[func]
            args, kwargs = (*args[:place], 0.0, *args[place + 1:]) if len(args) > place else args, {
                **kwargs, **({"dropout_p": 0.0} if len(args) <= place else {})}
        if self.replaced:
            if func in _TO_FLOAT and torch.float32 in self.replaced:
                return args[0].to(self.dtype)
            args, kwargs = tree_map(lambda x: self.dtype if isinstance(x, torch.dtype) and x in self.replaced else x,
                                    (args, kwargs))
        return func(*args, **kwargs)


@dataclasses.dataclass
class Result:
    loss: float
    gradients: torch.Tensor  # [parameters with a gradient, 17]
    buffers: dict  # name -> next value, of those that forward changes
    begin: dict  # their values before
    output: object


def scalar_of(output):
    """The loss in what a module gives, or None: a scalar, `.loss`, the key "loss", or a scalar that comes first."""
    found = output.get("loss") if isinstance(output, dict) else getattr(output, "loss", None)
    if found is None:
        found = output[0] if isinstance(output, (tuple, list)) and output else output
    is_scalar = isinstance(found, torch.Tensor) and found.numel() == 1 and found.is_floating_point()
    return found.reshape(()) if is_scalar else None


def logits_of(output):
    """What a loss beside the module is computed of: its first output."""
    found = output.get("logits") if isinstance(output, dict) else getattr(output, "logits", None)
    return found if found is not None else next(x for x in tree_iter(output) if isinstance(x, torch.Tensor))


def own_dtypes(module):
    return {tensor.dtype for tensor in (*module.parameters(), *module.buffers()) if tensor.is_floating_point()}


def caster(dtype):
    """What makes `dtype` of floats, and leaves the rest."""
    return lambda x: x.to(dtype) if x.is_floating_point() else x


@contextlib.contextmanager
def precision(module, dtype, shake=None):
    """While it is open the module runs in `dtype` and drops nothing. `shake`: a seed with which each value of a parameter
    moves by at most one unit in its last place."""
    own = own_dtypes(module)
    with _as_dtype(module, dtype, shake), _limits(dtype, own), Precision(dtype, own):
        yield


def run(module, call, dtype, shake=None):
    """One pass in `dtype`; `call(module, cast)` gives the output and the loss."""
    with torch.enable_grad(), precision(module, dtype, shake):
        before = {name: buffer.clone() for name, buffer, _ in _record.buffers(module)}
        output, loss = call(module, caster(dtype))
        if loss.requires_grad:
            torch.autograd.backward(loss)  # not loss.backward(): in that one the precision's mode is off
        parameters = [parameter for _, parameter, _ in _record.parameters(module) if parameter.requires_grad]
        rows = [torch.zeros(1 + _projections.COUNT, dtype=torch.float64) if parameter.grad is None else
                _projections.describe(parameter.grad.to_dense()) for parameter in parameters]
        gradients = torch.stack(rows) if rows else torch.zeros(0, 1 + _projections.COUNT, dtype=torch.float64)
        changed = {name: buffer.detach().double() for name, buffer, _ in _record.buffers(module)
                   if buffer.is_floating_point() and not torch.equal(buffer, before[name])}
        begin = {name: before[name].double() for name in changed}
        return Result(loss.item(), gradients, changed, begin, tree_map(_detached, output))


def _detached(x):
    return x.detach() if isinstance(x, torch.Tensor) else x


@contextlib.contextmanager
def unchanged(module):
    """Puts back everything that runs may change: attributes, buffers, parameters, gradients, random numbers."""
    parts = [(inner, dict(vars(inner)), dict(inner._buffers)) for inner in module.modules()]
    tensors = {id(x): (x, x.data, x.grad) for x in module.parameters()}
    devices = {x.device for x in module.parameters() if x.device.type == "cuda"}
    try:
        with torch.random.fork_rng(devices=list(devices)):
            yield
    finally:
        for inner, attributes, buffers in parts:
            vars(inner).clear()
            vars(inner).update(attributes)
            inner._buffers.clear()
            inner._buffers.update(buffers)
        for tensor, data, grad in tensors.values():
            tensor.grad = None
            tensor.data = data
            tensor.grad = grad


@contextlib.contextmanager
def _as_dtype(module, dtype, shake):
    """Parameters are `dtype`; buffers, and tensors that are attributes, are copies of it, ties among them kept."""
    copies = {}

    def copied(x):
        return copies.setdefault(id(x), (x, x.detach().to(dtype if x.is_floating_point() else x.dtype, copy=True)))[1]

    with unchanged(module):
        source = torch.Generator().manual_seed(shake or 0)
        for parameter in module.parameters():
            parameter.grad = None
            if parameter.is_floating_point():
                parameter.data = _shaken(parameter.data.to(dtype, copy=True), shake, source)
        for inner in module.modules():
            if isinstance(inner, torch.nn.RNNBase):
                inner.dropout = 0.0
            elif type(inner).__name__ in _DROPS_PATHS:
                inner.training = False
            for name, buffer in inner._buffers.items():
                if buffer is not None:
                    inner._buffers[name] = copied(buffer)
            for name, value in vars(inner).items():
                if isinstance(value, torch.Tensor) and not value.requires_grad:
                    vars(inner)[name] = copied(value)
        torch.default_generator.manual_seed(0)
        default = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            yield
        finally:
            torch.set_default_dtype(default)


def _shaken(values, shake, source):
    """Each value as it is, or the next larger or smaller one."""
    if shake is None:
        return values
    step = torch.randint(-1, 2, values.shape, generator=source, dtype=torch.int8).to(values.device)
    return torch.nextafter(values, torch.where(step == 0, values, step * torch.inf))


@contextlib.contextmanager
def _limits(dtype, own):
    """torch.finfo(dtype) tells of the module's own type: the file has what that one said."""
    finfo = torch.finfo
    stands_for = next(iter(own & {*_NARROW}), torch.float32)

    def limits(kind=None):
        kind = torch.get_default_dtype() if kind is None else kind
        return finfo(stands_for if kind == dtype else kind)

    torch.finfo = limits
    try:
        yield
    finally:
        torch.finfo = finfo
