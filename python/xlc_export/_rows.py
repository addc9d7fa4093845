"""The rows of a reference: the example's, where they tell something, and others of their kind where they do not.

A row of ids that are all zero trains one row of a table, rows that are equal hide what a batch does, and two inputs that
are equal hide that a file reads one of them twice. Made rows stay within what the module takes: the rows of the table
that ids index, the classes of labels, the example's range. Places of ignored labels (-100) stay.
"""

import dataclasses

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

FEW, MANY = 2, 8  # rows of an input that is large, and of one that is not
LARGE = 4096  # elements of a row
QUANTISED = 16384  # elements of an input from which on floats are stored as int8 and a scale


@dataclasses.dataclass
class Input:
    """One tensor among the arguments."""
    name: str
    value: torch.Tensor
    is_free: bool = False  # whether dimension 0 is the batch, and of any size in the file
    limit: int | None = None  # integers are below, where the module tells
    scale: float | None = None  # of floats that are stored as int8

    def with_value(self, value):
        return dataclasses.replace(self, value=value)


class Limits(TorchFunctionMode):
    """Sees which inputs index tables, and how many classes there are."""

    def __init__(self, inputs):
        super().__init__()
        self.inputs = {_place(x.value): x for x in inputs if not x.value.is_floating_point()}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is F.embedding:
            given = {**dict(zip(("input", "weight"), args)), **kwargs}
            self.note(given["input"], given["weight"].shape[0])
        elif func in (F.cross_entropy, F.nll_loss):
            given = {**dict(zip(("input", "target"), args)), **kwargs}
            self.note(given["target"], given["input"].shape[1 if given["input"].dim() > 1 else 0])
        return func(*args, **kwargs)

    def note(self, index, count):
        found = self.inputs.get(_place(index))
        if found is not None:
            found.limit = min(count, found.limit or count)


def _place(x):
    return x.untyped_storage().data_ptr()


def made(inputs, least):
    """The inputs with rows that tell something; at least `least` of them where the file takes any number."""
    source = torch.Generator().manual_seed(0)
    result = [_told(x, source) for x in _grown(inputs, least, source)]
    for i, later in enumerate(result):
        same = any(later.value.shape == x.value.shape and later.value.dtype == x.value.dtype and
                   torch.equal(later.value, x.value) for x in result[:i])
        if same and later.value.dim():
            result[i] = later.with_value(later.value.flip(0))
    return result


def cut(inputs, least):
    """The first rows: as many as keep the file small."""
    count = _count(inputs, least)
    return [x.with_value(x.value[:count].clone()) if x.is_free else x for x in inputs]


def quantised(inputs):
    """Large floats become multiples of a power of two, which int8 holds."""
    return [_quantised(x) if x.value.is_floating_point() and x.value.numel() > QUANTISED else x for x in inputs]


def _quantised(x):
    largest = x.value.abs().max().item()
    scale = 2.0 ** torch.tensor(largest / 127).log2().ceil().item() if largest else 1.0
    return dataclasses.replace(x, value=(x.value / scale).round() * scale, scale=scale)


def _count(inputs, least):
    rows = [x.value for x in inputs if x.is_free]
    if not rows:
        return 0
    is_large = any(x[0].numel() > LARGE for x in rows)
    return min(len(rows[0]), max(least, FEW) if is_large else MANY)


def _grown(inputs, least, source):
    """Cut to few rows, or with more of them."""
    inputs = cut(inputs, least)
    count = next((len(x.value) for x in inputs if x.is_free), least)
    if count >= least:
        return inputs

    def grow(x):
        first = x.value
        more = first.repeat(-(-least // count), *[1] * (first.dim() - 1))[:least].clone()
        if not _is_mask(x):
            more[count:] = _random(x, first, (least - count, *first.shape[1:]), source)
        return x.with_value(more)

    return [grow(x) if x.is_free else x for x in inputs]


def _is_mask(x):
    return x.value.dtype == torch.bool or ("mask" in x.name.lower() and bool(((x.value == 0) | (x.value == 1)).all()))


def _told(x, source):
    """The input, or one of its kind that is not degenerate."""
    value = x.value
    if value.numel() < 2 or value.dim() == 0:
        return x
    is_flat = bool((value == value.flatten()[0]).all())
    if _is_mask(x):
        return x.with_value(_padded(value)) if is_flat else x
    if is_flat or (x.is_free and len(value) > 1 and value[0].numel() > 1 and bool((value == value[:1]).all())):
        return x.with_value(_random(x, value, value.shape, source))
    return x


def _padded(value):
    """A mask that says the same everywhere, with some of its last places the other way."""
    result, other = value.clone(), 1 - value.flatten()[0].long()
    length = value.shape[-1]
    for row, places in enumerate(result.reshape(-1, length)):
        if row % 2 and length > 1:
            places[length - max(1, length // 4):] = other.to(value.dtype)
    return result


def _random(x, like, shape, source):
    """Random values within the range of `like`."""
    low, high = like.min(), like.max()
    if value_is_float := like.is_floating_point():
        values = torch.randn(shape, generator=source).to(like.device, like.dtype)
        if value_is_float and low < high:
            values = (values * like.std() + like.mean()).clamp(low, high)
        return values
    places = like[torch.arange(shape[0]) % len(like)]
    limit = x.limit or max(int(high), 1) + 1
    values = torch.randint(0, limit, shape, generator=source).to(like.device, like.dtype)
    return torch.where(places < 0, places, values)
