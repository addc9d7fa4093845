"""A gradient in seventeen numbers: its norm, and its sums under sixteen fixed patterns of signs.

A norm alone does not see which element of a gradient is where; a sum with random signs does, but for one chance in
many. Sign k of element i (flat and row-major, as PyTorch holds the parameter) is bit k of splitmix64(i): + where it is 0.
"""

import functools

import torch

COUNT = 16
_CHUNK = 1 << 20  # elements that are hashed at a time
_CACHED = 32  # chunks whose patterns are kept: 4 MB each


def _shifted(z, bits):
    """A logical shift to the right of what int64 holds."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def _wrapped(number):
    """The int64 that has these 64 bits."""
    return number - (1 << 64) if number >> 63 else number


def splitmix64(i):
    """The hash of an int64 tensor, elementwise; products and sums are modulo 2^64."""
    z = i + _wrapped(0x9E3779B97F4A7C15)
    z = (z ^ _shifted(z, 30)) * _wrapped(0xBF58476D1CE4E5B9)
    z = (z ^ _shifted(z, 27)) * _wrapped(0x94D049BB133111EB)
    return z ^ _shifted(z, 31)


@functools.lru_cache(maxsize=_CACHED)
def _patterns(chunk):
    """The sixteen bits of each element of a chunk, as one number."""
    first = chunk * _CHUNK
    return (splitmix64(torch.arange(first, first + _CHUNK)) & ((1 << COUNT) - 1)).to(torch.int32)


@functools.lru_cache(maxsize=1)
def _signs():
    """[2^16, 16]: what each pattern says."""
    bits = torch.arange(1 << COUNT)[:, None] >> torch.arange(COUNT) & 1
    return 1 - 2 * bits.double()


def describe(tensor):
    """[17] of float64: the norm and the sixteen projections. Elements of one pattern are summed before the signs are."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    sums, squares = torch.zeros(1 << COUNT, dtype=torch.float64), 0.0
    for chunk, piece in enumerate(flat.split(_CHUNK)):
        piece = piece.double()
        squares += torch.dot(piece, piece).item()
        sums += torch.bincount(_patterns(chunk)[:len(piece)], piece, 1 << COUNT)
    return torch.cat([torch.tensor([squares], dtype=torch.float64).sqrt(), sums @ _signs()])
