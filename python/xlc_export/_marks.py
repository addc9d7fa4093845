"""Marks: operators that stand in the traced graph for what ONNX has no word for, until the file is finished.

    stop_gradient(x)                 x, through which no gradient flows     -> Identity, metadata xlc.stop_gradient = "1"
    embedding(w, ids, padding_idx)   rows of w, row padding_idx gets none   -> Gather, metadata xlc.padding_idx = "N"
    batch_norm(x, ...)               statistics of the batch                -> BatchNormalization, training_mode = 1
    keep(y, buffers, values)         y, and next values of buffers          -> an Identity each, metadata xlc.buffer = NAME

The new exporter takes them as symbolic operators of a domain of their own, which its optimiser leaves alone. The old one
traces custom operators of PyTorch and asks for their translation: ONNX's own operators, whose shapes it can infer, with
an attribute that they do not have.
"""

import contextlib

import torch

DOMAIN = "xlc_export"


_library = torch.library.Library("xlc_export", "DEF")
_library.define("stop_gradient(Tensor x) -> Tensor")
_library.define("embedding(Tensor weight, Tensor ids, int padding_idx) -> Tensor")
_library.impl("stop_gradient", lambda x: x.clone(), "CompositeExplicitAutograd")
_library.impl("embedding", lambda weight, ids, padding_idx: weight[ids], "CompositeExplicitAutograd")


class DynamoMarks:
    """Marks for torch.onnx.export(dynamo=True)."""

    @staticmethod
    def stop_gradient(x):
        return torch.onnx.ops.symbolic(f"{DOMAIN}::StopGradient", (x,), dtype=x.dtype, shape=x.shape, version=1)

    @staticmethod
    def embedding(weight, ids, padding_idx):
        return torch.onnx.ops.symbolic(f"{DOMAIN}::Embedding", (weight, ids), {"padding_idx": padding_idx},
                                       dtype=weight.dtype, shape=(*ids.shape, *weight.shape[1:]), version=1)

    @staticmethod
    def batch_norm(x, weight, bias, mean, variance, momentum, eps):
        """The new exporter writes a batch norm in training as one in inference; so it never sees one."""
        ones = lambda value, like: torch.full(x.shape[1:2], float(value), dtype=x.dtype) if like is None else like
        inputs = (x, ones(1, weight), ones(0, bias), ones(0, mean), ones(1, variance))
        results = torch.onnx.ops.symbolic_multi_out(
            f"{DOMAIN}::BatchNorm", inputs, {"momentum": 1 - momentum, "epsilon": eps},
            dtypes=(x.dtype,) * 3, shapes=(x.shape, inputs[3].shape, inputs[4].shape), version=1)
        return results[0]


    @staticmethod
    def keep(y, buffers, values):
        return torch.onnx.ops.symbolic(f"{DOMAIN}::KeepBuffers", (y, *buffers, *values), dtype=y.dtype, shape=y.shape,
                                       version=1)


class TorchScriptMarks:
    """Marks for torch.onnx.export(dynamo=False), which writes batch norms right."""

    stop_gradient = staticmethod(torch.ops.xlc_export.stop_gradient)
    embedding = staticmethod(torch.ops.xlc_export.embedding)


@contextlib.contextmanager
def torchscript_translations(opset):
    """While it is open, the old exporter knows how the marks look in ONNX."""
    from torch.onnx import register_custom_op_symbolic, unregister_custom_op_symbolic
    from torch.onnx.symbolic_helper import parse_args

    @parse_args("v")
    def stop_gradient(g, x):
        return g.op("Identity", x, stop_gradient_i=1)

    @parse_args("v", "v", "i")
    def embedding(g, weight, ids, padding_idx):
        return g.op("Gather", weight, ids, axis_i=0, padding_idx_i=padding_idx)

    translations = {"xlc_export::stop_gradient": stop_gradient, "xlc_export::embedding": embedding}
    for name, translate in translations.items():
        register_custom_op_symbolic(name, translate, opset)
    try:
        yield
    finally:
        for name in translations:
            unregister_custom_op_symbolic(name, opset)
