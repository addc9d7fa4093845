"""Makes the files of this example: logits.onnx, x.npy, y.npy, expected.json. Needs xlc_export
(pip install ../../python), onnxscript and NumPy.

    python3 export.py FOLDER

A classifier of three layers, exported up to its logits: the loss comes from the spec. PyTorch trains the same model in
float64; its losses are what a compiled program is compared with.
"""

import json
import pathlib
import sys

import numpy
import torch
import xlc_export

STEPS, BATCH = 20, 16
OPTIMIZER = {"type": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 1e-4}


def make_model():
    torch.manual_seed(4)
    nn = torch.nn
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 10))


def make_data():
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(BATCH * STEPS, 20, generator=generator)
    return x, (x @ torch.randn(20, 10, generator=generator)).argmax(1)


def train(x, y):
    model = make_model().double()
    optimizer = torch.optim.SGD(model.parameters(), lr=OPTIMIZER["lr"], momentum=OPTIMIZER["momentum"],
                                weight_decay=OPTIMIZER["weight_decay"])
    losses, norms = [], []
    for rows, labels in zip(x.double().split(BATCH), y.split(BATCH)):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(rows), labels)
        loss.backward()
        norms.append(torch.sqrt(sum((p.grad ** 2).sum() for p in model.parameters())).item())
        optimizer.step()
        losses.append(loss.item())
    return losses, norms


def main(folder):
    x, y = make_data()
    xlc_export.export(make_model().eval(), (x[:2],), folder / "logits.onnx", input_names=["x"], output_names=["logits"],
                      dynamic_shapes=({0: "batch"},))
    numpy.save(folder / "x.npy", x.numpy())
    numpy.save(folder / "y.npy", y.numpy())
    losses, norms = train(x, y)
    (folder / "expected.json").write_text(json.dumps(
        {"steps": STEPS, "global_batch": BATCH, "optimizer": OPTIMIZER, "loss": losses, "grad_norm": norms}, indent=1))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
