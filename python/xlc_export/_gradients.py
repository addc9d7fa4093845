"""Watches a module run while it is traced, and marks where gradients stop.

A trace holds what is computed, not what is differentiated: `detach` and `no_grad` leave nothing in it. So every call of
a torch function passes through `Watch`:

    x.detach(), x.data            StopGradient(x)
    no_grad: f(x, y)              f(StopGradient(x), StopGradient(y)): what enters the region stops, so all it makes does
    embedding(ids, w, padding_idx=1)    Embedding(w, ids, 1)
    batch_norm(x, ..., training=True)   BatchNorm(x, ...), where the exporter would write something else
    instance_norm(x, running_mean, ...)  Keep(instance_norm(x), ...), with next values of the averages
    avg_pool2d(..., divisor_override=1) other functions of torch, where exporters drop an argument (_rewritten.py)
    scaled_dot_product_attention(..., dropout_p)  products, softmax and dropout, which exporters lose (_rewritten.py)

It counts the calls that draw random numbers, so that a file in which fewer of them are left is found (_draws.py).

Only values that parameters reach are marked. What has no place in a file is refused where it happens, by the name of
the module that does it.
"""

import contextlib
import functools
import inspect
import math
import sys
import warnings

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_iter, tree_map
from torch.utils.weak import WeakIdKeyDictionary

from . import _draws, _rewritten
from ._marks import TorchScriptMarks
from ._refusals import ExportRefused, describe, embedding_reasons

_DETACHES = {torch.Tensor.detach, torch.detach, torch.Tensor.data.__get__}
_READS = {torch.Tensor.item, torch.Tensor.tolist, torch.Tensor.numpy, torch.Tensor.__bool__, torch.Tensor.__int__,
          torch.Tensor.__float__, torch.Tensor.__index__, torch.tensor}
_GRAPH = torch.Tensor.grad_fn.__get__
_QUERIES = {getattr(torch.Tensor, name) for name in ("size", "dim", "ndimension", "numel", "nelement", "element_size",
            "stride", "storage_offset", "is_contiguous", "is_floating_point", "is_complex", "get_device", "__len__")} | {
    getattr(torch.Tensor, name).__get__ for name in ("shape", "dtype", "device", "layout", "ndim", "requires_grad",
                                                     "is_leaf", "grad_fn", "is_sparse", "is_cuda")}
_REFUSED = {
    torch.Tensor.register_hook: "registers a hook on a tensor, which a file cannot represent: remove the hook",
    torch.Tensor.register_post_accumulate_grad_hook: "registers a hook on a parameter, which a file cannot represent: remove "
                                                     "the hook",
    torch.Tensor.backward: "runs a backward pass in forward, which a file cannot represent",
    torch.autograd.grad: "computes a gradient in forward, which a file cannot represent",
    torch.Tensor.detach_: "detaches a value in place: use detach instead of detach_",
    torch.Tensor.data.__set__: "sets .data of a tensor in forward, which PyTorch's graph does not record",
    F.gumbel_softmax: "calls gumbel_softmax, whose random numbers and stopped gradient are not recorded: write it with torch's "
                      "functions",
}


class Watch(TorchFunctionMode):
    """Active while `module` runs. `refusal` keeps what it refused: exporters wrap exceptions."""

    def __init__(self, module, marks):
        super().__init__()
        self.marks = marks
        self.names = {id(inner): name for name, inner in reversed(list(module.named_modules()))}
        self.module = module
        self.refusal = None
        self.own = {F.embedding: self.look_up, F.embedding_bag: self.look_up, torch.embedding: self.look_up_row,
                    F.cross_entropy: self.score, F.gaussian_nll_loss: self.gaussian,
                    **dict.fromkeys(_rewritten.FUNCTIONS, self.rewrite)}
        self.own |= {F.instance_norm: self.normalise_instances, _rewritten.attention: self.attend}
        self.draws = 0  # of the last run
        if marks is TorchScriptMarks:
            self.own |= {torch.diff: self.differences, torch.cumsum: self.running, torch.Tensor.cumsum: self.running}
        else:
            self.own[F.batch_norm] = self.normalise
        self.reached = WeakIdKeyDictionary()  # what is computed from parameters
        # Stopped values are copies here and share memory in PyTorch: who changes one in place changes the other.
        self.copies, self.detached = {}, {}  # storage -> tensor, which keeps it
        self.kept = {}  # buffers whose next values are marked

    def start(self):
        """Forgets earlier runs: exporters may call the module more than once, with other tensors as its parameters."""
        self.reached, self.copies, self.detached, self.kept = WeakIdKeyDictionary(), {}, {}, {}
        self.draws = 0
        for parameter in self.module.parameters():
            self.reached[parameter] = True

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in _REFUSED:
            self.refuse(_REFUSED[func])
        if func == _GRAPH and self.is_reached(args[0]):
            self.refuse("reads grad_fn of a tensor, which gives access to hooks on gradients that a file cannot represent: "
                        "remove this access")
        self.draws += _draws.does_draw(func, args, kwargs)
        if func in _READS and self.has_reached((args, kwargs)):
            self.refuse(f"converts a tensor that depends on parameters to a number ({_name(func)}): the file would store this "
                        "number as a constant; compute with the tensor")
        if _is_in_place(func) and isinstance(args[0], torch.Tensor):
            self.check_in_place(func, args[0])
        if func in _DETACHES:
            if self.is_reached(args[0]):
                self.detached[_storage(args[0])] = args[0]
            return self.stop(args[0], func(*args, **kwargs))
        if func in self.own:
            return self.own[func](func, args, kwargs)
        if not torch.is_grad_enabled() and self.has_reached((args, kwargs)) and func not in _QUERIES:
            args, kwargs = tree_map(lambda x: self.stop(x, x), (args, kwargs))
        return self.follow(func(*args, **kwargs), func, args, kwargs)

    def is_reached(self, x):
        return isinstance(x, torch.Tensor) and (x in self.reached or x.requires_grad)

    def has_reached(self, values):
        return any(self.is_reached(x) for x in tree_iter(values))

    def stop(self, x, otherwise):
        """Marks `x`, or gives `otherwise` where no gradient could flow anyway."""
        if not self.is_reached(x) or not x.is_floating_point():
            return otherwise
        marked = self.marks.stop_gradient(x.detach())
        self.copies[_storage(marked)] = marked
        return marked

    def follow(self, result, func, args, kwargs):
        if torch.is_grad_enabled() and func not in _QUERIES and self.has_reached((args, kwargs)):
            changed = args[0] if _is_in_place(func) else None
            for x in tree_iter((result, changed)):
                if isinstance(x, torch.Tensor):
                    self.reached[x] = True
        return result

    def check_in_place(self, func, changed):
        """Refuses changes that PyTorch's graph does not see, or that a copy would not see."""
        if not torch.is_grad_enabled() and self.is_reached(changed):
            self.refuse(f"changes a tensor that has a gradient in place under no_grad ({_name(func)}): use an operation that is "
                        "not in place")
        storage = _storage(changed)
        if storage is not None and (storage in self.copies or storage in self.detached):
            self.refuse(f"changes a tensor in place ({_name(func)}) that shares memory with a detached tensor: use "
                        "detach().clone(), or an operation that is not in place")

    def attend(self, func, args, kwargs):
        return self.follow(_rewritten.attend(*args, **kwargs), func, args, kwargs)

    def look_up_row(self, func, args, kwargs):
        """torch.embedding, in which -1 is no row."""
        given = _bind(func, args, kwargs, ("weight", "input", "padding_idx", "scale_grad_by_freq", "sparse"))
        row = given.get("padding_idx", -1)
        return self.look_up(F.embedding, (given.get("input", given.get("indices")), given["weight"]), {
            "padding_idx": row if row >= 0 else None, "sparse": given.get("sparse", False),
            "scale_grad_by_freq": given.get("scale_grad_by_freq", False)})

    def score(self, func, args, kwargs):
        """Label smoothing, which the new exporter forgets, and probabilities as targets, which it takes for labels."""
        given = _bind(func, args, kwargs)
        smooths = given["label_smoothing"] and torch.is_grad_enabled()
        if not smooths and not given["target"].is_floating_point():
            return self.follow(func(*args, **kwargs), func, args, kwargs)
        if not given["target"].is_floating_point() and given["weight"] is not None:
            self.refuse("has label_smoothing and class weights, which the exporter does not support: write the loss with "
                        "torch's functions")
        loss = _rewritten.score_probabilities if given["target"].is_floating_point() else _rewritten.smooth_labels
        return self.follow(loss(given), func, args, kwargs)

    def rewrite(self, func, args, kwargs):
        """What exporters write as something else, in words that they have."""
        try:
            return self.follow(_rewritten.FUNCTIONS[func](func, args, kwargs), func, args, kwargs)
        except _rewritten.Unwritable as reason:
            self.refuse(str(reason))

    def gaussian(self, func, args, kwargs):
        """gaussian_nll_loss, which limits the variance under no_grad: the gradient goes through as if it did not."""
        given = _bind(func, args, kwargs)
        scores, target, variance, reduction = (given[key] for key in ("input", "target", "var", "reduction"))
        if not isinstance(variance, torch.Tensor) or not torch.is_grad_enabled():
            return self.follow(func(*args, **kwargs), func, args, kwargs)
        if variance.dim() == scores.dim() - 1:
            variance = variance.unsqueeze(-1)
        change = variance.clamp(min=given["eps"]) - variance
        variance = variance + (self.marks.stop_gradient(change.detach()) if self.is_reached(variance) else change)
        loss = 0.5 * (variance.log() + (scores - target) ** 2 / variance)
        loss = loss + 0.5 * math.log(2 * math.pi) if given["full"] else loss
        loss = loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss
        return self.follow(loss, func, args, kwargs)

    def look_up(self, func, args, kwargs):
        given = _bind(func, args, kwargs)
        for reason in embedding_reasons(given["max_norm"], given["scale_grad_by_freq"], given["sparse"]):
            self.refuse(reason)
        weight, ids, row = given["weight"], given["input"], given["padding_idx"]
        if not torch.is_grad_enabled():
            weight = self.stop(weight, weight)
        if func is F.embedding_bag:
            return self.follow(func(**{**given, "weight": weight}), func, args, kwargs)
        if row is None or not torch.is_grad_enabled():
            return self.follow(func(ids, weight), func, args, kwargs)
        if row < 0:  # nn.Embedding has made it positive
            with warnings.catch_warnings(action="ignore"):  # the old exporter fears that the size may change
                row += int(weight.shape[0])
        return self.follow(self.marks.embedding(weight, ids, row), func, args, kwargs)

    def normalise(self, func, args, kwargs):
        given = _bind(func, args, kwargs)
        if not given["training"]:
            return self.follow(func(*args, **kwargs), func, args, kwargs)
        weight, bias, x = (given[key] if torch.is_grad_enabled() or given[key] is None else self.stop(given[key], given[key])
                           for key in ("weight", "bias", "input"))
        if given["running_mean"] is None and isinstance(x.shape[0], int) and x.shape[0] == 1:
            return self.follow(_standardise(x, weight, bias, given["eps"]), func, args, kwargs)
        result = self.marks.batch_norm(x, weight, bias, given["running_mean"], given["running_var"], given["momentum"],
                                       given["eps"])
        return self.follow(result, func, args, kwargs)

    def normalise_instances(self, func, args, kwargs):
        """An instance norm that keeps running averages: exporters forget these."""
        given = _bind(func, args, kwargs)
        buffers = [given["running_mean"], given["running_var"]]
        if not given["use_input_stats"] or buffers[0] is None:
            return self.follow(func(*args, **kwargs), func, args, kwargs)
        if self.marks is TorchScriptMarks:
            self.refuse("keeps running averages of an instance norm, which the TorchScript exporter cannot write: use "
                        "dynamo=True")
        if any(id(buffer) in self.kept for buffer in buffers):
            self.refuse("keeps running averages of an instance norm and runs twice, which a file cannot represent: use two "
                        "modules")
        self.kept.update({id(buffer): buffer for buffer in buffers})
        y = func(given["input"], None, None, given["weight"], given["bias"], True, given["momentum"], given["eps"])
        x = self.stop(given["input"], given["input"])
        values = [buffer * (1 - given["momentum"]) + value * given["momentum"]
                  for buffer, value in zip(buffers, _rewritten.average_instances(x))]
        return self.follow(self.marks.keep(y, buffers, values), func, args, kwargs)

    def differences(self, func, args, kwargs):
        """torch.diff, which the old exporter does not know."""
        given = {"n": 1, "dim": -1, "prepend": None, "append": None, **dict(zip(("input", "n", "dim"), args)), **kwargs}
        dim, pieces = given["dim"], [given[key] for key in ("prepend", "input", "append") if given[key] is not None]
        if given["n"] != 1 or given["input"].dtype == torch.bool:
            return self.follow(func(*args, **kwargs), func, args, kwargs)
        x = torch.cat(pieces, dim)
        return self.follow(x.narrow(dim, 1, x.shape[dim] - 1) - x.narrow(dim, 0, x.shape[dim] - 1), func, args, kwargs)

    def running(self, func, args, kwargs):
        """Running sums of booleans are whole numbers; the old exporter writes sums of booleans, which ONNX has not."""
        args, kwargs = tree_map(lambda x: x.to(torch.int64) if getattr(x, "dtype", None) == torch.bool else x, (args, kwargs))
        return self.follow(func(*args, **kwargs), func, args, kwargs)

    def refuse(self, reason):
        raise self.keep(ExportRefused(f"{self.where()} {reason}"))

    def keep(self, refusal):
        self.refusal = self.refusal or refusal
        return refusal

    def where(self):
        """The innermost module that runs."""
        frame = sys._getframe(1)
        while frame:
            inner = frame.f_locals.get("self")
            if isinstance(inner, torch.nn.Module) and id(inner) in self.names:
                return describe(self.names[id(inner)], inner)
            frame = frame.f_back
        return "the module"


@contextlib.contextmanager
def watching(module, marks):
    """While it is open, each run of `module` is watched; gives the Watch."""
    watch = Watch(module, marks)
    forward, has_own = module.forward, "forward" in vars(module)
    apply = vars(torch.autograd.Function)["apply"]

    @functools.wraps(forward)
    def run(*args, **kwargs):
        if torch.compiler.is_dynamo_compiling():
            raise ExportRefused("the module cannot be traced without TorchDynamo; the first error states the reason")
        watch.start()
        with torch.enable_grad(), watch:
            return forward(*args, **kwargs)

    def refuse_function(cls, *args, **kwargs):
        if not cls.__module__.startswith("torch._") and watch.has_reached((args, kwargs)):  # PyTorch's own machinery
            helps = ("disable gradient checkpointing" if cls.__name__ == "CheckpointFunction" else
                     "write it with torch's functions, and use detach to stop or replace a gradient")
            watch.refuse(f"uses the autograd.Function {cls.__name__}, whose gradient a file cannot represent: {helps}")
        return apply.__get__(None, cls)(*args, **kwargs)

    module.forward, torch.autograd.Function.apply = run, classmethod(refuse_function)
    F.scaled_dot_product_attention = _rewritten.attend  # multi_head_attention_forward calls it where no mode is active
    try:
        yield watch
    finally:
        torch.autograd.Function.apply, F.scaled_dot_product_attention = apply, _rewritten.attention
        if has_own:
            module.forward = forward
        else:
            del module.forward


def _standardise(x, weight, bias, eps):
    """A batch norm of one sample without running averages: how layers standardise their weights."""
    axes, column = [0, *range(2, x.dim())], (-1,) + (1,) * (x.dim() - 2)
    centred = x - x.mean(axes, keepdim=True)
    result = centred * torch.rsqrt((centred * centred).mean(axes, keepdim=True) + eps)
    result = result if weight is None else result * weight.view(column)
    return result if bias is None else result + bias.view(column)


def _storage(x):
    try:
        return x.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        return None  # wrapped by functorch: has no storage of its own


def _name(func):
    return getattr(func, "__name__", str(func))


def _is_in_place(func):
    name = _name(func)
    return (name.endswith("_") and not name.endswith("__")) or name in (
        "__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__", "__ipow__",
        "__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__")


def _bind(func, args, kwargs, names=None):
    """The arguments by name; `names` are those of a function that does not tell them."""
    if names:
        return {**dict(zip(names, args)), **kwargs}
    bound = inspect.signature(func).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments
