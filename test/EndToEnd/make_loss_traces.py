"""Makes the models of losses that are no plain mean, in one folder, and what PyTorch does with them.

    python3 make_loss_traces.py ../Inputs/models/losses [NAME...]        needs PyTorch 2.15, onnx, NumPy

One small network, rows x, targets y, classes t, the same with some of -100 as p, and a loss for each kind of term
(lib/Import/LossTerms.h). A trace is of the loss of the whole global batch, whatever the cut. Where rows meet there is no such
loss for pieces: `NAME` is then traced whole, and `NAME-halves` with the mean of the losses of its two halves.
"""

import copy
import json
import pathlib
import sys

import numpy
import onnx
import torch
import torch.nn.functional as F

import finals

STEPS, BATCH, CLASSES = 6, 8, 6
OPTIMIZER = {"type": "sgd", "lr": 0.05, "momentum": 0.9, "weight_decay": 0.0}


class Network(torch.nn.Module):
    """Two layers; `temperature` is what a contrastive loss scales by."""

    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(8, 12), torch.nn.Tanh(), torch.nn.LayerNorm(12),
                                        torch.nn.Linear(12, CLASSES))

    def forward(self, x):
        return self.body(x)


def weights(like):
    return torch.linspace(0.5, 2, CLASSES, dtype=like.dtype)


def penalty(net):
    return 1e-2 * sum((parameter ** 2).sum() for parameter in net.parameters())


def masked(scores, y):
    kept = y > 0
    return (((scores - y) ** 2) * kept).sum() / kept.sum()


def contrast(scores, y):
    pairs = F.normalize(scores, dim=-1) @ F.normalize(y, dim=-1).T * 3
    return F.cross_entropy(pairs, torch.arange(pairs.shape[0]))


# name -> (loss of network and inputs, names of the inputs)
LOSSES = {
    "sum": (lambda net, x, y: F.mse_loss(net(x), y, reduction="sum") * 0.05, "xy"),
    "class-weights": (lambda net, x, t: F.cross_entropy(net(x), t, weight=weights(x)), "xt"),
    "masked": (lambda net, x, y: masked(net(x), y), "xy"),
    "float-masked": (lambda net, x, y: (F.l1_loss(net(x), y, reduction="none") * y.abs()).sum() / y.abs().sum(), "xy"),
    "penalised": (lambda net, x, t: F.cross_entropy(net(x), t, weight=weights(x)) + penalty(net), "xt"),
    "mean-and-sum": (lambda net, x, y: F.mse_loss(net(x), y) + 0.01 * (net(x) ** 2).sum(), "xy"),
    "focal": (lambda net, x, t: ((1 - F.softmax(net(x), -1).gather(1, t[:, None])[:, 0]) ** 2
                                 * F.cross_entropy(net(x), t, reduction="none")).mean(), "xt"),
    "two-counts": (lambda net, x, y, p: F.cross_entropy(net(x), p) + 0.3 * masked(net(x), y) + 0.1 * net(x).abs().mean(), "xyp"),
    "root": (lambda net, x, y: F.mse_loss(net(x), y).sqrt(), "xy"),
    "variance": (lambda net, x, y: F.mse_loss(net(x), y) + 0.1 * net(x).var(0).mean(), "xy"),
    "contrastive": (lambda net, x, y: contrast(net(x), y), "xy"),
}
MEET = ("root", "variance", "contrastive")


class Loss(torch.nn.Module):
    def __init__(self, net, loss):
        super().__init__()
        self.net, self.loss = net, loss

    def forward(self, *inputs):
        return self.loss(self.net, *inputs)


def train(module, data, dtype, pieces):
    """Losses, gradient norms and final parameters; a loss of several pieces is their mean."""
    module = copy.deepcopy(module).to(dtype)
    parameters = dict(module.named_parameters())
    optimizer = torch.optim.SGD(parameters.values(), lr=OPTIMIZER["lr"], momentum=OPTIMIZER["momentum"])
    losses, norms = [], []
    for step in range(STEPS):
        inputs = [rows[step * BATCH:(step + 1) * BATCH] for rows in data]
        inputs = [rows.to(dtype) if rows.is_floating_point() else rows for rows in inputs]
        optimizer.zero_grad()
        cut = zip(*(rows.split(BATCH // pieces) for rows in inputs))
        loss = sum(module(*piece) for piece in cut) / pieces
        loss.backward()
        losses.append(loss.item())
        norms.append(torch.sqrt(sum((parameter.grad.double() ** 2).sum() for parameter in parameters.values())).item())
        optimizer.step()
    return losses, norms, {name: parameter.detach() for name, parameter in parameters.items()}


def write_trace(folder, name, module, inputs, data, pieces=1):
    exact, rounded = (train(module, data, dtype, pieces) for dtype in (torch.float64, torch.float32))
    trace = {"steps": STEPS, "global_batch": BATCH, "optimizer": OPTIMIZER, "clip_norm": None, "inputs": inputs,
             "loss": exact[0], "grad_norm": exact[1], "loss_float32": rounded[0], "grad_norm_float32": rounded[1],
             "parameter_difference_float32_to_float64": {
                 key: (rounded[2][key].double() - value).abs().max().item() for key, value in exact[2].items()}}
    if pieces > 1:
        trace["scope"] = "micro_batch"
    (folder / f"trace-{name}.json").write_text(json.dumps(trace, indent=1) + "\n")
    finals.write(folder / f"final-{name}.json", finals.of_tensors(exact[2]))
    print(name, exact[0][0], exact[0][-1])


def export(module, inputs, rows, path):
    torch.onnx.export(copy.deepcopy(module), tuple(part[:2] for part in rows), path, input_names=inputs, output_names=["loss"],
                      dynamo=True, external_data=False, optimize=False, verbose=False,
                      dynamic_shapes=(tuple({0: "batch"} for _ in inputs),))
    model = onnx.load(path)
    for node in model.graph.node:  # where the exporter was installed
        kept = [entry for entry in node.metadata_props if "stack_trace" not in entry.key]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(model, path)


def main():
    torch.set_num_threads(1)  # the same digits again
    folder = pathlib.Path(sys.argv[1])
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(STEPS * BATCH, 8, generator=generator)
    y = x @ torch.randn(8, CLASSES, generator=generator) * 0.5
    t = y.argmax(1)
    p = torch.where(torch.rand(len(t), generator=generator) < 0.4, -100, t)  # halves of a batch count differently
    data = {"x": x, "y": y, "t": t, "p": p}
    for name, rows in data.items():
        numpy.save(folder / f"{name}.npy", rows.numpy())
    for name, (loss, letters) in LOSSES.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        torch.manual_seed(3)
        module = Loss(Network(), loss)
        inputs, rows = list(letters), [data[letter] for letter in letters]
        export(module, inputs, rows, folder / f"{name}.onnx")
        write_trace(folder, name, module, inputs, rows)
        if name in MEET:
            write_trace(folder, f"{name}-halves", module, inputs, rows, pieces=2)


if __name__ == "__main__":
    main()
