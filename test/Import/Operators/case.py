"""One case: an operator with inputs and attributes, and a reference that computes what it must give."""

from tensors import Array

NEWEST = 21


class Case:
    """`want(*inputs)` gives an Array, or a list of them with None for an output that the node leaves out.

    `fixed`: inputs that must be known when the model is compiled. `can_be_known`: false where an operator has no rule
    for known inputs. `since` and `until` are the opsets in which the case means this. `has_slope`: false where
    PyTorch's gradient is not the derivative. `draws`: a site, whose number `want` takes as well.
    """

    def __init__(self, op, *inputs, want, fixed=(), since=13, until=NEWEST, can_be_known=True, has_slope=True, draws=False, **attributes):
        self.op, self.inputs, self.want, self.fixed = op, inputs, want, fixed
        self.opsets, self.can_be_known, self.attributes = range(since, until + 1), can_be_known, attributes
        self.has_slope, self.draws = has_slope, draws

    def __str__(self):
        shapes = ", ".join(str(list(x.shape)) if isinstance(x, Array) else "-" for x in self.inputs)
        return f"{self.op}({shapes}) {self.attributes or ''}".strip()


def constant(array):
    """A reference that is a given value."""
    return lambda *_: array
