"""Exports a PyTorch module to ONNX so that nothing about its training is lost.

    import xlc_export
    xlc_export.export(module, args, "model.onnx", dynamic_shapes=..., input_names=...)

`torch.onnx.export` is made for inference: it merges equal initial values, drops zero biases, folds and transposes
weights, and forgets names, ties, stopped gradients and padding rows. Here the parameters and buffers are inputs of the
graph while it is exported and optimised, and become initializers under PyTorch's names afterwards; what ONNX cannot
express is stored in the file's metadata (docs/Export.md). The file is ordinary ONNX. What cannot be stored there either
is refused with its place: see `ExportRefused`.
"""

from ._export import export
from ._reference import NoReference, reference
from ._refusals import ExportRefused

__all__ = ["export", "reference", "ExportRefused", "NoReference"]
