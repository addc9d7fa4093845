"""Makes the small models with references that xlc's own tests read: make_references.py FOLDER [NAME...] (test/Inputs/references).

FOLDER/NAME gets model.onnx and model.reference.safetensors. Files of `xlc_export` train as PyTorch does; those that a
plain export gets wrong are there to be found: what is wrong stands beside each.
"""

import dataclasses
import functools
import pathlib
import re
import sys
import typing
import warnings

import onnx
import torch
import torch.nn.functional as F
import xlc_export
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "test" / "Families"))
from kinds import Parts  # noqa: E402

PLAIN, OLD = torch.onnx.export, functools.partial(torch.onnx.export, dynamo=False, opset_version=17)


@dataclasses.dataclass
class Fixture:
    name: str
    forward: typing.Callable  # (module, *inputs) -> loss, or logits where labels are given
    parts: typing.Callable  # () -> parameters and modules by name
    inputs: dict  # name -> tensor, dimension 0 is the batch
    export: typing.Callable = xlc_export.export
    is_training: bool = False
    labels: dict | None = None  # name -> tensor: the loss is the cross-entropy of logits
    dtype: torch.dtype = torch.float32


def floats(*shape, seed=3):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def integers(high, *shape, seed=4):
    return torch.randint(0, high, shape, generator=torch.Generator().manual_seed(seed))


def random(*shape):
    return nn.Parameter(torch.randn(*shape) * 0.5)


# --- as PyTorch trains them


def mlp(m, x, y):
    return F.cross_entropy(m.b(torch.tanh(m.a(x))), y)


def conv_norm(m, x, y):
    return F.cross_entropy(m.head(F.relu(m.norm(m.conv(x))).mean((2, 3))), y)


def ignored_labels(m, ids, labels):
    return F.cross_entropy(m.head(m.table(ids)).flatten(0, 1), labels.flatten())


def tied(m, ids, labels):
    return F.cross_entropy(F.linear(m.norm(m.table(ids)), m.head.weight).flatten(0, 1), labels.flatten())


def tie():
    table, head = nn.Embedding(9, 6), nn.Linear(6, 9, bias=False)
    head.weight = table.weight
    return {"table": table, "norm": nn.LayerNorm(6), "head": head}


def attention(m, ids, labels):
    """One block of a GPT with two heads."""
    batch, length = ids.shape
    x = m.tokens(ids) + m.places(torch.arange(length))
    q, k, v = m.qkv(m.norm1(x)).view(batch, length, 3, 2, 4).permute(2, 0, 3, 1, 4)
    x = x + m.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, 8))
    x = x + m.down(F.gelu(m.up(m.norm2(x))))
    return F.cross_entropy(m.head(x[:, :-1]).flatten(0, 1), labels[:, 1:].flatten())


def block():
    return {"tokens": nn.Embedding(11, 8), "places": nn.Embedding(6, 8), "norm1": nn.LayerNorm(8), "qkv": nn.Linear(8, 24),
            "out": nn.Linear(8, 8), "norm2": nn.LayerNorm(8), "up": nn.Linear(8, 16), "down": nn.Linear(16, 8),
            "head": nn.Linear(8, 11, bias=False)}


def stopped(m, x, y):
    """Straight-through rounding, and a gate whose own gradient stops."""
    h = m.a(x)
    h = (h + (torch.round(h) - h).detach()) * torch.sigmoid(m.b(h).detach())
    return F.cross_entropy(m.head(h), y)


def multi_hot(m, x, ids, y):
    """Marks at places that repeat, and sums at places that repeat."""
    marks = torch.zeros(ids.shape[0], 6).scatter(1, ids, 1.0)
    sums = torch.zeros_like(x).scatter_add(1, ids, m.values(x)[:, :ids.shape[1]])
    return F.cross_entropy(m.head(torch.tanh(sums) + marks * m.scale), y)


def written(m, x, ids, y):
    """Values written over others, the largest of equal products, and a gate."""
    h = torch.tanh(m.base(x)).scatter(1, ids, m.values(x)[:, :4])
    largest = (ids * m.scale).amax(1, keepdim=True)
    return F.cross_entropy(m.head(h * torch.sigmoid(m.gate(x)) + largest), y)


def top(m, x, y):
    """The two largest of each row, and the largest of groups."""
    h = m.a(x)
    groups = h.view(-1, 4, 3).max(-1).values
    return F.mse_loss(m.head(torch.cat([h.topk(2, -1).values, groups], -1)), y)


def pools(m, x, y):
    h = m.up(F.max_pool2d(F.relu(m.conv(x)), 2))
    return F.cross_entropy(m.head(F.avg_pool2d(h, 3, stride=2, padding=1).flatten(1)), y)


def image(m, x, y):
    return F.cross_entropy(m.head(F.silu(m.conv(x)).mean((2, 3))), y)


def logits(m, x):
    return m.b(torch.tanh(m.a(x)))


def narrow(m, x, y):
    """Code that takes float32 alone, as extensions do."""
    if x.dtype != torch.float32:
        raise TypeError("float32 is expected")
    return mlp(m, x, y)


# --- as a plain export gets them wrong


def gate(m, x, y):
    """The exporter folds `1 - mix`: the parameter gets half of its gradient."""
    mix = m.mix
    return F.cross_entropy(m.head(torch.tanh(m.a(x)) * mix + torch.relu(m.b(x)) * (1 - mix)), y)


def frozen_base(m, x, y):
    """requires_grad=False is not written: the base is trained."""
    return F.cross_entropy(m.head(torch.tanh(m.base(x) + m.adapter(x))), y)


def adapter():
    return {"base": nn.Linear(6, 8).requires_grad_(False), "adapter": nn.Linear(6, 8), "head": nn.Linear(8, 3)}


def lost_detach(m, x, y):
    """The old exporter writes no detach."""
    h = m.a(x)
    return F.cross_entropy(m.head(h * torch.sigmoid(h.detach())), y)


def unseen_rows(m, x, mask, y):
    """Rows of attention that see no key are zeros in PyTorch; the exporter's mask is finite, and they attend to all alike."""
    q, k, v = m.qkv(x)[:, None].chunk(3, -1)
    seen = mask[:, None, None, :].bool() & torch.ones(5, 5, dtype=torch.bool).tril()
    return F.cross_entropy(m.head(F.scaled_dot_product_attention(q, k, v, attn_mask=seen)).flatten(0, 2), y.flatten())


def running_mean(m, x, y):
    """A buffer that forward changes: the file holds the value of the export."""
    h = m.a(x)
    m.mean.mul_(0.9).add_(0.1 * h.detach().mean(0))
    return F.cross_entropy(m.head(torch.tanh(h - m.mean)), y)


def one_input(m, ids, labels):
    """Exported with one tensor as both: the file reads one of them."""
    return F.cross_entropy(m.head(m.table(ids))[:, :-1].flatten(0, 1), labels[:, 1:].flatten())


def merged(module, args, path, **options):
    PLAIN(module, (args[0], args[0]), path, **options)


X, CLASSES = floats(4, 6), torch.tensor([0, 2, 1, 2])
IDS, ROWS = torch.tensor([[3, 1, 4, 1, 5], [2, 6, 0, 1, 8]]), {"x": X, "y": CLASSES}
LABELS = torch.tensor([[1, 4, -100, 5, -100], [-100, 0, 1, 8, 2]])
TWO = lambda: {"a": nn.Linear(6, 8), "b": nn.Linear(8, 3)}  # noqa: E731
LANGUAGE = {"ids": integers(11, 2, 6), "labels": integers(11, 2, 6, seed=5)}
REPEATED = torch.tensor([[0, 3, 3, 5], [1, 1, 1, 2], [5, 4, 5, 4], [2, 0, 1, 3]])
SQUARES = {"x": floats(4, 2, 8, 8), "y": CLASSES}
MASK = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])

FIXTURES = [
    Fixture("mlp", mlp, TWO, ROWS),
    Fixture("logits", logits, TWO, {"x": X}, labels={"y": CLASSES}),
    Fixture("conv-norm", conv_norm, lambda: {"conv": nn.Conv2d(2, 4, 3), "norm": nn.BatchNorm2d(4), "head": nn.Linear(4, 3)},
            SQUARES, is_training=True),
    Fixture("ignored-labels", ignored_labels, lambda: {"table": nn.Embedding(9, 6, padding_idx=1), "head": nn.Linear(6, 9)},
            {"ids": IDS, "labels": LABELS}),
    Fixture("tied", tied, tie, {"ids": IDS, "labels": LABELS}),
    Fixture("attention", attention, block, LANGUAGE),
    Fixture("stopped", stopped, lambda: {"a": nn.Linear(6, 8), "b": nn.Linear(8, 8), "head": nn.Linear(8, 3)}, ROWS),
    Fixture("multi-hot", multi_hot, lambda: {"values": nn.Linear(6, 6), "scale": random(6), "head": nn.Linear(6, 3)},
            {"x": X, "ids": REPEATED, "y": CLASSES}),
    Fixture("written", written, lambda: {"base": nn.Linear(6, 6), "values": nn.Linear(6, 6), "gate": nn.Linear(6, 6),
                                         "scale": random(1), "head": nn.Linear(6, 3)},
            {"x": X, "ids": REPEATED, "y": CLASSES}),
    Fixture("top", top, lambda: {"a": nn.Linear(6, 12), "head": nn.Linear(6, 2)}, {"x": X, "y": floats(4, 2, seed=6)}),
    Fixture("pools", pools, lambda: {"conv": nn.Conv2d(2, 4, 3, padding=1), "up": nn.ConvTranspose2d(4, 3, 2, stride=2),
                                     "head": nn.Linear(48, 3)}, SQUARES),
    Fixture("image", image, lambda: {"conv": nn.Conv2d(3, 4, 8, stride=8), "head": nn.Linear(4, 3)},
            {"x": floats(2, 3, 56, 56), "y": CLASSES[:2]}),
    Fixture("bfloat16", mlp, TWO, ROWS, dtype=torch.bfloat16),
    Fixture("narrow", narrow, TWO, ROWS),
    Fixture("gate", gate, lambda: {"a": nn.Linear(6, 8), "b": nn.Linear(6, 8), "mix": nn.Parameter(torch.rand(8)),
                                   "head": nn.Linear(8, 3)}, ROWS, PLAIN),
    Fixture("frozen-base", frozen_base, adapter, ROWS, PLAIN),
    Fixture("lost-detach", lost_detach, lambda: {"a": nn.Linear(6, 8), "head": nn.Linear(8, 3)}, ROWS, OLD),
    Fixture("unseen-rows", unseen_rows, lambda: {"qkv": nn.Linear(6, 18), "head": nn.Linear(6, 3)},
            {"x": floats(2, 5, 6), "mask": MASK, "y": integers(3, 2, 5)}, PLAIN),
    Fixture("running-mean", running_mean, lambda: {"a": nn.Linear(6, 8), "mean": torch.zeros(8), "head": nn.Linear(8, 3)},
            ROWS, PLAIN),
    Fixture("one-input", one_input, lambda: {"table": nn.Embedding(9, 6), "head": nn.Linear(6, 9)},
            {"ids": IDS, "labels": IDS.clone()}, merged),
]


def forget_folders(path):
    """Stack traces name files of this machine; their last names stay."""
    model = onnx.load(path)
    for node in model.graph.node:
        for entry in node.metadata_props:
            entry.value = re.sub(r'File "[^"]*/', 'File "', entry.value)
    onnx.save(model, path)


def make(fixture, folder):
    folder.mkdir(parents=True, exist_ok=True)
    path, names = folder / "model.onnx", list(fixture.inputs)
    torch.manual_seed(0)
    module = Parts(fixture.forward, fixture.parts()).train(fixture.is_training).to(fixture.dtype)
    args = tuple(x.to(fixture.dtype) if x.is_floating_point() else x for x in fixture.inputs.values())
    options = dict(input_names=names, output_names=["logits" if fixture.labels else "loss"])
    options |= (dict(dynamic_axes={name: {0: "batch"} for name in names}) if fixture.export is OLD else
                dict(dynamic_shapes=(tuple({0: "batch"} for _ in names),), external_data=False, verbose=False))
    more = {"reference": False} if fixture.export is xlc_export.export else {}
    with warnings.catch_warnings(action="ignore"):
        fixture.export(module, args, str(path), **options, **more)
    forget_folders(path)
    given = dict(loss=F.cross_entropy, labels=fixture.labels) if fixture.labels else {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        xlc_export.reference(module, args, path, input_names=names, **given)
    print(fixture.name, *(str(x.message) for x in said), sep="\n    ")


if __name__ == "__main__":
    torch.set_num_threads(1)  # more of them sum in another order
    for fixture in FIXTURES:
        if not sys.argv[2:] or fixture.name in sys.argv[2:]:
            make(fixture, pathlib.Path(sys.argv[1]) / fixture.name)
