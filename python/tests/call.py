"""A module of a test, without a class of its own."""

from torch import nn


class Call(nn.Module):
    """A module whose forward is a function of it and the inputs."""

    def __init__(self, f, **parts):
        super().__init__()
        self.f = f
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.f(self, *inputs)
