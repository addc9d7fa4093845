"""Moves runs between programs of xlc and PyTorch: reads and writes the checkpoints of docs/Checkpoints.md.

    checkpoint = xlc_checkpoint.load("checkpoints")              # the newest one, or a folder step-00001000
    checkpoint.progress["step"], checkpoint["m/h.0.ln_1.weight"] # a numpy array, verified

    xlc_checkpoint.to_torch("checkpoints", module, optimizer)    # goes on in PyTorch
    xlc_checkpoint.from_torch("back", module, optimizer, 2000, like="checkpoints")
    # ./train --resume back/step-00002000                        # and in a program, of any layout

It needs numpy and xxhash; to_torch and from_torch need PyTorch too.
"""

from ._failure import Failure
from ._read import Checkpoint, load
from ._torch import from_torch, to_torch

__all__ = ["Checkpoint", "Failure", "from_torch", "load", "to_torch"]
