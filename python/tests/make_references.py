"""Makes the small models with references that xlc's own tests read: make_references.py FOLDER (test/Inputs/references).

FOLDER/NAME gets model.onnx and model.reference.safetensors.
"""

import dataclasses
import pathlib
import sys
import typing
import warnings

import torch
import torch.nn.functional as F
import xlc_export
from torch import nn

X, CLASSES = torch.randn(4, 6, generator=torch.Generator().manual_seed(3)), torch.tensor([0, 2, 1, 2])


@dataclasses.dataclass
class Fixture:
    name: str
    module: typing.Callable  # () -> nn.Module whose forward gives the loss
    inputs: dict  # name -> tensor, dimension 0 is the batch
    export: typing.Callable = xlc_export.export


class Call(nn.Module):
    """A module whose forward is a function of it and the inputs."""

    def __init__(self, f, **parts):
        super().__init__()
        self.f = f
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.f(self, *inputs)


def mlp():
    return Call(lambda m, x, y: F.cross_entropy(m.b(torch.tanh(m.a(x))), y), a=nn.Linear(6, 8), b=nn.Linear(8, 3))


FIXTURES = [
    Fixture("mlp", mlp, {"x": X, "y": CLASSES}),
]


def make(fixture, folder):
    folder.mkdir(parents=True, exist_ok=True)
    path, names = folder / "model.onnx", list(fixture.inputs)
    torch.manual_seed(0)
    module = fixture.module()
    args = tuple(fixture.inputs.values())
    with warnings.catch_warnings(action="ignore"):
        fixture.export(module, args, str(path), input_names=names, output_names=["loss"], dynamo=True, verbose=False,
                       dynamic_shapes=(tuple({0: "batch"} for _ in names),), external_data=False)
    xlc_export.reference(module, args, path, input_names=names)


if __name__ == "__main__":
    for fixture in FIXTURES:
        if not sys.argv[2:] or fixture.name in sys.argv[2:]:
            make(fixture, pathlib.Path(sys.argv[1]) / fixture.name)
