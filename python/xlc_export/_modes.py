"""What eval mode turns off: a module that is exported in it is trained without its dropouts and batch statistics.

Models of from_pretrained are in eval mode, and stay in it inside a wrapper that computes the loss, which is in training
mode itself. Single layers in eval mode, such as frozen batch norms, are intended, and so are parts without a trainable
parameter.
"""

import contextlib
import os
import sys
import warnings

import torch
from torch import nn

from . import _refusals

_PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OWN = (os.path.join(_PACKAGES, "xlc", ""), os.path.join(_PACKAGES, "xlc_export", ""), contextlib.__file__)


def warn_of_eval(module, training):
    """Warns of dropouts and batch norms that eval mode turns off, unless `training` says which mode is wanted."""
    if training in (torch.onnx.TrainingMode.EVAL, torch.onnx.TrainingMode.TRAINING):
        return
    for name, part in _parts_in_eval(module):
        inactive = _inactive(part)
        if inactive:
            what = _refusals.describe(name, part) if name else "the module"
            warnings.warn(f"{what} is in eval mode: {inactive}; call module.train() first to train with them, or pass "
                          "training=torch.onnx.TrainingMode.EVAL if this is intended", UserWarning, _level_of_caller())


def _parts_in_eval(module):
    """(name, part) of the outermost parts in eval mode that have parts themselves and something to train."""
    outside = []
    for name, inner in module.named_modules():
        if inner.training or any(name.startswith(prefix) for prefix in outside):
            continue
        outside.append(f"{name}." if name else "")
        is_trained = any(parameter.requires_grad for parameter in inner.parameters())
        if not name or (is_trained and next(inner.children(), None) is not None):
            yield name, inner


def _inactive(part):
    """What of a part eval mode turns off, in words; empty if nothing."""
    off = [inner for inner in part.modules() if not inner.training]
    drops = sum(_refusals.dropout_of(inner) > 0 for inner in off)
    norms = sum(isinstance(inner, nn.modules.batchnorm._BatchNorm) and inner.track_running_stats for inner in off)
    words = [f"{drops} dropouts are inactive" if drops > 1 else "1 dropout is inactive"] if drops else []
    words += [f"{norms} batch norms use their running averages" if norms > 1 else
              "1 batch norm uses its running averages"] if norms else []
    return " and ".join(words)


def _level_of_caller():
    """The stacklevel, for the function that calls this one, of the nearest frame outside of this package and of xlc."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_OWN):
        frame, level = frame.f_back, level + 1
    return level
