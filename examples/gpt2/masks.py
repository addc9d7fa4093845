"""The masks that a program draws, in numpy (docs/rationale/Random.md), in the place of PyTorch's own.

    with masks.drawn(seed, step):        # steps count from 1
        loss = model(...)                # the n-th dropout that is called has the mask of site n

So PyTorch trains with the masks of a compiled program, and their losses can be compared.
"""

import contextlib

import numpy
import torch

LOW = numpy.uint64(0xFFFFFFFF)


def philox(counter, key):
    """Philox 4x32-10 of four arrays and two words."""
    a, b, c, d = (numpy.asarray(word, numpy.uint64) for word in counter)
    low, high = (numpy.uint64(word) for word in key)
    for _ in range(10):
        left, right = numpy.uint64(0xD2511F53) * a, numpy.uint64(0xCD9E8D57) * c
        a, b, c, d = right >> numpy.uint64(32) ^ b ^ low, right & LOW, left >> numpy.uint64(32) ^ d ^ high, left & LOW
        low, high = (low + numpy.uint64(0x9E3779B9)) & LOW, (high + numpy.uint64(0xBB67AE85)) & LOW
    return a, b, c, d


def find_kept(seed, step, site, shape, ratio):
    """Which elements of a tensor, whose rows are the samples from 0, a Dropout keeps."""
    key = [int(word[0]) for word in philox(([step & 0xFFFFFFFF], [step >> 32], [0], [0]), (seed & 0xFFFFFFFF, seed >> 32))[:2]]
    count = int(numpy.prod(shape))
    counters = numpy.arange((count + 3) // 4, dtype=numpy.uint64)
    words = philox((counters & LOW, counters >> numpy.uint64(32), numpy.full_like(counters, site),
                    numpy.full_like(counters, 0x64726177)), key)
    words = numpy.stack(words, axis=1).reshape(-1)[:count].reshape(shape)
    return words >> numpy.uint64(1) >= round(float(numpy.float32(ratio)) * 2**31)


@contextlib.contextmanager
def drawn(seed, step):
    """Replaces PyTorch's dropout while it is active."""
    sites = iter(range(1 << 31))

    def dropout(x, p=0.5, training=True, inplace=False):
        if not training or p == 0:
            return x
        kept = torch.from_numpy(find_kept(seed, step, next(sites), tuple(x.shape), p))
        return torch.where(kept, x / (1 - float(numpy.float32(p))), torch.zeros((), dtype=x.dtype))

    own = torch.nn.functional.dropout
    torch.nn.functional.dropout = dropout
    try:
        yield
    finally:
        torch.nn.functional.dropout = own
