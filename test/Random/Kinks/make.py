"""Writes what the table of kinks is compared with: two exports of one module, and PyTorch's own gradients.

    python make.py FOLDER        needs PyTorch and onnx; PyTorch's version is written into the table

Each case is a function of a few parameters whose elements lie where derivatives jump, once a zero input is added (so that
no exporter computes the function once and for all) and a number of its own subtracted (so that no two parameters begin
equal, which exporters merge). The loss is the sum of all results, each element with a weight of its own.
"""

import json
import pathlib
import sys
import warnings

import onnx
import torch
import torch.nn.functional as F

EDGE = [-1.0, 0.0, 1.0]

PLACES = torch.tensor([[1, 1, 0]])

# name: (function of the operands, their values)
CASES = {
    "abs": (torch.abs, EDGE),
    "relu": (F.relu, EDGE),
    "relu6": (F.relu6, [-1.0, 0.0, 3.0, 6.0, 7.0]),
    "clamp": (lambda x: torch.clamp(x, -1.0, 1.0), [-2.0, -1.0, 0.0, 1.0, 2.0]),
    "clamp_min": (lambda x: torch.clamp(x, min=0.0), EDGE),
    "clamp_max": (lambda x: torch.clamp(x, max=0.0), EDGE),
    "hardtanh": (F.hardtanh, [-2.0, -1.0, 0.0, 1.0, 2.0]),
    "hardsigmoid": (F.hardsigmoid, [-4.0, -3.0, 0.0, 3.0, 4.0]),
    "hardswish": (F.hardswish, [-4.0, -3.0, 0.0, 3.0, 4.0]),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.25), EDGE),
    "prelu": (F.prelu, EDGE, [0.25]),
    "elu": (F.elu, EDGE),
    "elu_2": (lambda x: F.elu(x, 2.0), EDGE),
    "celu": (lambda x: F.celu(x, 2.0), EDGE),
    "selu": (F.selu, EDGE),
    "softplus": (F.softplus, [-30.0, 0.0, 20.0, 30.0]),
    "softsign": (F.softsign, EDGE),
    "softshrink": (F.softshrink, [-1.0, -0.5, 0.0, 0.5, 1.0]),
    "hardshrink": (F.hardshrink, [-1.0, -0.5, 0.0, 0.5, 1.0]),
    "threshold": (lambda x: F.threshold(x, 0.5, 0.25), [0.0, 0.5, 1.0]),
    "logsigmoid": (F.logsigmoid, [-30.0, 0.0, 30.0]),
    "gelu": (F.gelu, EDGE),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), EDGE),
    "sinh": (torch.sinh, EDGE),
    "asinh": (torch.asinh, EDGE),
    "atanh": (torch.atanh, [-0.5, 0.0, 0.5]),
    "asin_inside": (torch.asin, [-0.5, 0.0, 0.5]),
    "acos_inside": (torch.acos, [-0.5, 0.0, 0.5]),
    "tanhshrink": (F.tanhshrink, EDGE),
    "silu": (F.silu, EDGE),
    "mish": (F.mish, EDGE),
    "sign": (lambda x: torch.sign(x) + x, EDGE),
    "round": (lambda x: torch.round(x) + x, [-1.5, -0.5, 0.0, 0.25, 0.5]),
    "floor": (lambda x: torch.floor(x) + x, EDGE),
    "ceil": (lambda x: torch.ceil(x) + x, EDGE),
    "trunc": (lambda x: torch.trunc(x) + x, EDGE),
    "frac": (lambda x: x - torch.floor(x), EDGE),
    "fmod": (lambda x: torch.fmod(x, 2.0), [-3.0, -2.0, 0.0, 2.0, 3.0]),
    "remainder": (lambda x: torch.remainder(x, 2.0), [-3.0, -2.0, 0.0, 2.0, 3.0]),
    "maximum": (torch.maximum, EDGE, [0.0, 0.0, 0.0]),
    "minimum": (torch.minimum, EDGE, [0.0, 0.0, 0.0]),
    "maximum_constant": (lambda x: torch.maximum(x, torch.zeros(3)), EDGE),
    "minimum_constant": (lambda x: torch.minimum(x, torch.zeros(3)), EDGE),
    "maximum_itself": (lambda x: torch.maximum(x, x), EDGE),
    "amax": (lambda x: x.amax(-1), [1.0, 3.0, 3.0, 2.0, 3.0, 3.0]),
    "amin": (lambda x: x.amin(-1), [1.0, 3.0, 1.0, 2.0]),
    "max_all": (lambda x: x.max(), [1.0, 3.0, 3.0, 2.0]),
    "max_dim": (lambda x: x.max(-1).values, [1.0, 3.0, 3.0, 2.0]),
    "min_dim": (lambda x: x.min(-1).values, [4.0, 1.0, 2.0, 1.0]),
    "topk": (lambda x: x.topk(2, -1).values, [1.0, 3.0, 3.0, 2.0, 3.0]),
    "max_pool": (lambda x: F.max_pool1d(x[:, None], 2, 1), [1.0, 3.0, 3.0, 3.0, 2.0]),
    "norm": (lambda x: torch.linalg.vector_norm(x, dim=-1), [0.0, 0.0]),
    "norm_some": (lambda x: torch.linalg.vector_norm(x, dim=-1), [3.0, 0.0, 4.0]),
    "norm_1": (lambda x: torch.linalg.vector_norm(x, 1, dim=-1), EDGE),
    "normalize": (lambda x: F.normalize(x, dim=-1, eps=0.25), [0.0, 0.0]),
    "cosine": (lambda x, y: F.cosine_similarity(x, y, dim=-1, eps=0.25), [0.0, 0.0], [1.0, 2.0]),
    "prod": (lambda x: x.prod(-1), [2.0, 0.0, 3.0]),
    "prod_zeros": (lambda x: x.prod(-1), [2.0, 0.0, 0.0]),
    "square": (torch.square, EDGE),
    "pow_1": (lambda x: x ** 1.0, EDGE),
    "pow_0": (lambda x: x ** 0.0 + x, EDGE),
    "pow_3": (lambda x: x ** 3.0, EDGE),
    "pow_2_5": (lambda x: x ** 2.5, [0.0, 1.0, 4.0]),
    "pow_tensor": (torch.pow, [0.0, 0.0, 1.0, 2.0], [2.0, 1.0, 0.0, 3.0]),
    "where": (lambda x, y: torch.where(x > 0, x, y), EDGE, [2.0, 3.0, 4.0]),
    "masked_sqrt": (lambda x: torch.where(x > 0, x, 1.0).sqrt(), EDGE),
    "masked_fill": (lambda x: x.masked_fill(x >= 0, 5.0), EDGE),
    "l1_loss": (lambda x: F.l1_loss(x, torch.zeros_like(x), reduction="none"), EDGE),
    "smooth_l1": (lambda x: F.smooth_l1_loss(x, torch.zeros_like(x), reduction="none"), [-2.0, -1.0, 0.0, 1.0, 2.0]),
    "huber": (lambda x: F.huber_loss(x, torch.zeros_like(x), reduction="none"), [-2.0, -1.0, 0.0, 1.0, 2.0]),
    "hinge": (lambda x: torch.clamp(1 - x, min=0), [0.0, 1.0, 2.0]),
    "hinge_relu": (lambda x: F.relu(1 - x), [0.0, 1.0, 2.0]),
    "bce_with_logits": (lambda x: F.binary_cross_entropy_with_logits(x, torch.ones_like(x), reduction="none"), EDGE),
    "logsumexp": (lambda x: torch.logsumexp(x, -1), [2.0, 2.0, -50.0]),
    "logaddexp": (torch.logaddexp, [0.0, 1.0], [0.0, 50.0]),
    "var": (lambda x: x.var(-1), [2.0, 2.0, 2.0]),
    "layer_norm": (lambda x: F.layer_norm(x, x.shape[-1:]), [2.0, 2.0, 2.0]),
    "glu": (lambda x: F.glu(x, -1), [0.0, 1.0, 0.0, -1.0]),
    "equal_mask": (lambda x: x * (x == 0), EDGE),
    "scatter": (lambda x, y: x.scatter(1, PLACES, y), EDGE, [2.0, 3.0, 4.0]),
    "index_put": (lambda x, y: x.index_put((torch.zeros(3, dtype=torch.long), PLACES[0]), y[0]), EDGE, [2.0, 3.0, 4.0]),
    "scatter_add": (lambda x, y: x.scatter_add(1, PLACES, y), EDGE, [2.0, 3.0, 4.0]),
    "scatter_amax": (lambda x, y: x.scatter_reduce(1, PLACES, y, "amax"), [4.0, 3.0, 3.0], [3.0, 3.0, 4.0]),
    "scatter_amin": (lambda x, y: x.scatter_reduce(1, PLACES, y, "amin", include_self=False), [1.0, 3.0, 3.0], [4.0, 4.0, 4.0]),
    "scatter_mean": (lambda x, y: x.scatter_reduce(1, PLACES, y, "mean"), EDGE, [2.0, 3.0, 4.0]),
    "scatter_mean_of": (lambda x, y: x.scatter_reduce(1, PLACES, y, "mean", include_self=False), EDGE, [2.0, 3.0, 4.0]),
}

ORDER = [(name, i) for name, (_, *operands) in CASES.items() for i in range(len(operands))]

# What an exporter cannot write.
UNSUPPORTED = {"torchscript": {"threshold", "trunc", "l1_loss", "smooth_l1", "huber", "logaddexp", "sinh", "asinh", "atanh",
                               "scatter_amax", "scatter_amin", "scatter_mean", "scatter_mean_of"}, "dynamo": set()}


class Module(torch.nn.Module):
    def __init__(self, cases):
        super().__init__()
        self.cases, self.shifts = cases, {}
        for name, (_, *operands) in cases.items():
            for i, values in enumerate(operands):
                shift = self.shifts[name, i] = 16.0 * (1 + ORDER.index((name, i)))
                self.register_parameter(f"{name}_{i}", torch.nn.Parameter(torch.tensor(values) + shift))

    def forward(self, x):
        total = x.sum()
        for name, (function, *operands) in self.cases.items():
            values = [getattr(self, f"{name}_{i}") + (x if name != "prelu" or i == 0 else x[0]) - self.shifts[name, i]
                      for i in range(len(operands))]
            result = function(*values).reshape(-1)
            total = total + (result * (torch.arange(result.numel()) + 1.0)).sum()
        return total


def find_gradients(module):
    module.zero_grad()
    module(torch.zeros(1, 1)).backward()
    return {name: [p.tolist(), p.grad.tolist()] for name, p in module.named_parameters()}


EXPORTERS = {
    "torchscript": dict(dynamo=False, opset_version=17, do_constant_folding=False),
    "dynamo": dict(dynamo=True, opset_version=18, external_data=False, verbose=False),
}


def export(module, path, options):
    torch.onnx.export(module, (torch.zeros(1, 1),), path, input_names=["x"], output_names=["loss"], **options)


def strip(path):
    """Leaves of the metadata what says which call a node came from."""
    model = onnx.load(path)
    for node in model.graph.node:
        kept = [(each.key, each.value) for each in node.metadata_props
                if each.key in ("pkg.torch.onnx.fx_node", "pkg.torch.onnx.name_scopes")]
        del node.metadata_props[:]
        for key, value in kept:
            node.metadata_props.add(key=key, value=value)
    onnx.save(model, path)


def main():
    folder = pathlib.Path(sys.argv[1])
    warnings.filterwarnings("ignore")
    table = {"torch": torch.__version__, "gradients": find_gradients(Module(CASES))}
    for exporter, options in EXPORTERS.items():
        able = {name: case for name, case in CASES.items() if name not in UNSUPPORTED[exporter]}
        export(Module(able), folder / f"kinks-{exporter}.onnx", options)
        strip(folder / f"kinks-{exporter}.onnx")
    text = json.dumps(table).replace('"gradients"', '\n"gradients"').replace(']], "', ']],\n"')
    (folder / "gradients.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
