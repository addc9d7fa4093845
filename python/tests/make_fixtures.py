"""Makes the small exported files that xlc's own tests read: make_fixtures.py FOLDER (test/Import/Inputs).

One module with everything that an exporter usually loses: norms that begin equal, a bias of zeros, a tie, a scalar, a
frozen parameter, one that nothing reads, a padding row, a detached value, a region without gradients, a buffer.
"""

import pathlib
import sys

import torch
import xlc_export
from torch import nn


class Everything(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(6, 4, padding_idx=1)
        self.norms = nn.ModuleList(nn.LayerNorm(4) for _ in range(2))
        self.linear = nn.Linear(4, 4)
        nn.init.zeros_(self.linear.bias)
        self.scale = nn.Parameter(torch.tensor(1.0))
        self.frozen = nn.Parameter(torch.ones(4), requires_grad=False)
        self.unread = nn.Parameter(torch.ones(3))
        self.register_buffer("mask", torch.tensor([1.0, 0.0, 1.0, 1.0]))
        self.head = nn.Linear(4, 6, bias=False)
        self.head.weight = self.table.weight

    def forward(self, ids):
        x = self.table(ids)
        h = self.norms[0](x) * self.scale + self.norms[1](x) * self.frozen
        with torch.no_grad():
            gate = torch.sigmoid(h)
        h = h * gate * self.mask + x.detach()
        return self.head(self.linear(h))


def make(path, dynamo):
    torch.manual_seed(0)
    axes = {0: "batch", 1: "sequence"}
    options = dict(dynamic_shapes=(axes,), verbose=False) if dynamo else dict(dynamic_axes={"ids": axes})
    xlc_export.export(Everything().eval(), (torch.tensor([[0, 1, 2], [3, 4, 5]]),), path, input_names=["ids"],
                      output_names=["logits"], dynamo=dynamo, **options)


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    make(folder / "exported-dynamo.onnx", dynamo=True)
    make(folder / "exported-torchscript.onnx", dynamo=False)
