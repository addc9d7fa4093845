"""Which calls draw random numbers, and which nodes of a file do: what an exporter folds would be drawn once, at the export.

    F.dropout(x, 0.1)            Dropout(x, 0.1, True)
    torch.rand_like(x)           RandomUniformLike(x)
    torch.bernoulli(0.5 * ones)  a mask that the exporter drew: an initializer, and no node
"""

import inspect

import torch
import torch.nn.functional as F

from ._refusals import ExportRefused

_DROPOUTS = {  # function -> names of its arguments, where it does not tell them itself
    **dict.fromkeys((F.dropout, F.alpha_dropout, F.feature_alpha_dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.rrelu,
                     F.multi_head_attention_forward)),
    **dict.fromkeys((torch.dropout, torch.dropout_, torch.alpha_dropout, torch.alpha_dropout_, torch.feature_dropout,
                     torch.feature_dropout_, torch.feature_alpha_dropout, torch.feature_alpha_dropout_),
                    ("input", "p", "train")),
    F.scaled_dot_product_attention: ("query", "key", "value", "attn_mask", "dropout_p"),
}
_ALWAYS = {torch.rand, torch.rand_like, torch.randn, torch.randn_like, torch.randint, torch.randint_like, torch.randperm,
           torch.normal, torch.bernoulli, torch.multinomial, torch.poisson} | {
    getattr(torch.Tensor, name) for name in ("bernoulli", "bernoulli_", "multinomial", "uniform_", "normal_", "random_",
                                             "exponential_", "cauchy_", "geometric_", "log_normal_")}
NODES = {"RandomUniform", "RandomUniformLike", "RandomNormal", "RandomNormalLike", "Bernoulli", "Multinomial"}


def does_draw(func, args, kwargs):
    if func not in _DROPOUTS:
        return func in _ALWAYS
    names = _DROPOUTS[func]
    if names:
        given = {**dict(zip(names, args)), **kwargs}
    else:
        given = inspect.signature(func).bind(*args, **kwargs)
        given.apply_defaults()
        given = given.arguments
    p = given.get("p", given.get("dropout_p", given.get("upper", 0)))
    return bool(p and given.get("training", given.get("train", True)))


def _draws(node):
    if node.domain not in ("", "ai.onnx"):
        return False
    if node.op_type != "Dropout":
        return node.op_type in NODES
    mode = node.inputs[2] if len(node.inputs) > 2 else None
    return mode is not None and (mode.const_value is None or bool(mode.const_value.numpy()))


def kinds_of(path):
    """Operators of a file that draw whatever a dropout does."""
    import onnx

    return sorted({node.op_type for node in onnx.load(path, load_external_data=False).graph.node} & NODES)


def check(model, drawn):
    """Refuses a file in which fewer nodes draw than calls of the module did."""
    import onnx_ir as ir

    left = sum(_draws(node) for node in ir.traversal.RecursiveGraphIterator(model.graph))
    if left < drawn:
        raise ExportRefused(f"the module draws random numbers in {drawn} call{'s' * (drawn > 1)}, but {left} nodes of the file "
                            "do: the exporter has replaced the other calls by constants, so every step would use the same "
                            "numbers; draw for a value that depends on an input, as in rand_like(x) or dropout(x), instead of "
                            "a constant")
