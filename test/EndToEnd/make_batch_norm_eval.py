"""Makes cnn/eval.json: what PyTorch's eval mode says of the rows of `cnn`, before training and behind the 20 steps of its trace.

    python3 make_batch_norm_eval.py ../Inputs/models        needs PyTorch 2.15, onnx, NumPy

Initial values are those of the file. Batch norms train with the statistics of the global batch of 8 and evaluate with their running
averages, whose variances PyTorch corrects by n / (n - 1). Losses are of float64.
"""

import json
import pathlib
import sys

import numpy
import onnx
import torch
from torch import nn
from torch.nn import functional as F

STEPS, BATCH = 20, 8
RANGES = ((0, 30), (0, 160))  # rows: first, count


def make_model(path):
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(32, 10))
    tensors = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer}
    model.load_state_dict({name: value if name.endswith("num_batches_tracked") else torch.tensor(tensors[name])
                           for name, value in model.state_dict().items()})
    return model.double()


def evaluate(model, x, y):
    model.eval()
    found = []
    with torch.no_grad():
        for first, count in RANGES:
            logits, labels = model(x[first:first + count]), y[first:first + count]
            rank = (logits > logits.gather(1, labels[:, None])).sum(1)
            found.append({"rows": count, "loss": F.cross_entropy(logits, labels).item(), "targets": count,
                          "correct": int((rank < 1).sum()), "in_best_3": int((rank < 3).sum())})
    model.train()
    return found


def main():
    folder = pathlib.Path(sys.argv[1]) / "cnn"
    trace = json.loads((folder / "trace-sgd.json").read_text())
    x, y = (torch.tensor(numpy.load(folder / f"{name}.npy")) for name in ("x", "y"))
    x = x.double()
    model = make_model(folder / "logits-torchscript-train.onnx")
    made = {"initial": evaluate(model, x, y)}
    optimizer = torch.optim.SGD(model.parameters(), lr=trace["optimizer"]["lr"], momentum=trace["optimizer"]["momentum"])
    for step in range(STEPS):
        rows = slice(step * BATCH, (step + 1) * BATCH)
        loss = F.cross_entropy(model(x[rows]), y[rows])
        if abs(loss.item() - trace["loss"][step]) > 1e-9:
            raise ValueError(f"step {step + 1}: the loss is {loss.item()}, the trace has {trace['loss'][step]}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    made["final-sgd"] = evaluate(model, x, y)
    (folder / "eval.json").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
