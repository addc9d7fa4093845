"""Makes the models `padded` and `stopped`, and PyTorch's runs of them: what a file says about gradients beside ONNX.

    python3 make_stopped.py ../Inputs/models        needs PyTorch 2.15, onnx, NumPy

padded: a language model whose table has a padding row and is the output layer, too; the row gets the output layer's
gradient and decays. stopped: a straight-through estimator, a second head behind a `detach`, and a third one that no
gradient reaches. The exporter's metadata stays in the files, but for the folder of this script.
"""

import contextlib
import io
import json
import pathlib
import sys

import numpy
import onnx
import torch
from torch import nn
from torch.nn import functional as F

import finals

OPTIMIZER = {"type": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}
STEPS, BATCH, SEQUENCE = 12, 8, 12
PADDING, VOCABULARY = 1, 41


class Attention(nn.Module):
    """Causal, four heads."""

    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm_1, self.attention = nn.LayerNorm(width), Attention(width)
        self.norm_2, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm_1(x))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class Padded(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width, padding_idx=PADDING)
        self.layers = nn.ModuleList(Layer(width) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, input_ids):
        x = self.embed(input_ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))

    @staticmethod
    def loss(logits, labels):
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())

    @staticmethod
    def data(generator):
        ids = torch.randint(2, VOCABULARY, (STEPS * BATCH, SEQUENCE), generator=generator)
        begin = torch.randint(4, SEQUENCE + 1, (STEPS * BATCH, 1), generator=generator)
        isPadding = torch.arange(SEQUENCE) >= begin
        return {"input_ids": ids.masked_fill(isPadding, PADDING), "labels": ids.masked_fill(isPadding, -100)}


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.tanh(self.up(self.norm(x))))


class Stopped(nn.Module):
    def __init__(self, width=12, classes=6):
        super().__init__()
        self.first = nn.Linear(10, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(3))
        self.head, self.side = nn.Linear(width, classes), nn.Linear(width, classes)
        self.fixed = nn.Linear(width, classes)

    def forward(self, x):
        h = self.first(x)
        for block in self.blocks:
            h = block(h)
            h = h + (torch.sin(3 * h) - h).detach()
        scores = self.head(h) + self.side(h.detach())
        return scores * self.fixed(h).detach()

    @staticmethod
    def loss(logits, labels):
        return F.cross_entropy(logits, labels)

    @staticmethod
    def data(generator):
        return {"x": torch.randn(STEPS * BATCH, 10, generator=generator),
                "labels": torch.randint(0, 6, (STEPS * BATCH,), generator=generator)}


class Exported(nn.Module):
    """Logits, or the loss where labels are given."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, inputs, labels=None):
        logits = self.model(inputs)
        return logits if labels is None else self.model.loss(logits, labels)


def make_model(kind):
    torch.manual_seed(7)
    model = kind()
    with torch.no_grad():  # no two alike, nothing zero: what exporters merge and drop is another test
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    return model


def train(kind, data, dtype):
    """Losses, gradient norms and final parameters."""
    model = make_model(kind).to(dtype)
    settings = {key: value for key, value in OPTIMIZER.items() if key != "type"}
    optimizer = torch.optim.SGD(model.parameters(), **settings)
    losses, norms = [], []
    for step in range(STEPS):
        inputs, labels = (rows[step * BATCH:(step + 1) * BATCH] for rows in data.values())
        optimizer.zero_grad()
        loss = model.loss(model(inputs.to(dtype) if inputs.is_floating_point() else inputs), labels)
        loss.backward()
        losses.append(loss.item())
        squares = [(p.grad.double() ** 2).sum() for p in model.parameters() if p.grad is not None]
        norms.append(torch.sqrt(sum(squares)).item())
        optimizer.step()
    return losses, norms, {f"model.{name}": parameter.detach() for name, parameter in model.named_parameters()}


def export(model, inputs, names, path, **options):
    """Batch and sequence stay symbolic; the place of this script is cut off in the lines that the exporter leaves."""
    isNew = options.setdefault("dynamo", True)
    axes = [{0: "batch"} if value.dim() == 1 or value.is_floating_point() else {0: "batch", 1: "sequence"}
            for value in inputs]
    if isNew:
        options |= {"dynamic_shapes": tuple(axes), "external_data": False}
    else:
        options |= {"dynamic_axes": dict(zip(names, axes))}
    output = "loss" if len(inputs) == 2 else "logits"
    with contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(model, inputs, str(path), input_names=names, output_names=[output], **options)
    file = onnx.load(path)
    here, library = str(pathlib.Path(__file__).resolve().parent) + "/", str(pathlib.Path(torch.__file__).parent) + "/"
    for entry in (entry for node in file.graph.node for entry in node.metadata_props):
        entry.value = entry.value.replace(here, "").replace(library, "torch/")
    onnx.save(file, path)


def export_all(kind, data, folder):
    model = Exported(make_model(kind))
    names = list(data)
    inputs = tuple(rows[:3] for rows in data.values())
    export(model, inputs[:1], names[:1], folder / "logits.onnx")
    export(model, inputs, names, folder / "loss.onnx")
    if kind is Padded:
        export(model, inputs[:1], names[:1], folder / "logits-torchscript.onnx", dynamo=False)
    else:
        export(model, inputs, names, folder / "loss-unoptimized.onnx", optimize=False)


def make(kind, folder):
    folder.mkdir(exist_ok=True)
    data = kind.data(torch.Generator().manual_seed(3))
    export_all(kind, data, folder)
    exact, rounded = train(kind, data, torch.float64), train(kind, data, torch.float32)
    trace = {"steps": STEPS, "global_batch": BATCH, "optimizer": OPTIMIZER, "clip_norm": None, "inputs": list(data),
             "loss": exact[0], "grad_norm": exact[1], "loss_float32": rounded[0], "grad_norm_float32": rounded[1]}
    for name, rows in data.items():
        numpy.save(folder / f"{name}.npy", rows.numpy())
    (folder / "trace-sgd.json").write_text(json.dumps(trace, indent=1) + "\n")
    finals.write(folder / "final-sgd.json", finals.of_tensors(exact[2]))


def main():
    torch.set_num_threads(1)  # the same digits again
    folder = pathlib.Path(sys.argv[1])
    make(Padded, folder / "padded")
    make(Stopped, folder / "stopped")


if __name__ == "__main__":
    main()
