"""The numbers that a program draws, in numpy (docs/rationale/Random.md), in the place of PyTorch's own.

    with masks.drawn(seed, step):        # steps count from 1
        loss = model(...)                # the n-th call that draws has the numbers of site n

So PyTorch trains with the masks of a compiled program, and their losses can be compared.
"""

import contextlib
import itertools
from unittest import mock

import numpy
import torch
from torch.nn import functional

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


def find_words(seed, step, site, shape):
    """Of each element of a tensor, whose rows are the samples from 0."""
    key = [int(word[0]) for word in philox(([step & 0xFFFFFFFF], [step >> 32], [0], [0]), (seed & 0xFFFFFFFF, seed >> 32))[:2]]
    count = int(numpy.prod(shape))
    counters = numpy.arange((count + 3) // 4, dtype=numpy.uint64)
    words = philox((counters & LOW, counters >> numpy.uint64(32), numpy.full_like(counters, site),
                    numpy.full_like(counters, 0x64726177)), key)
    return numpy.stack(words, axis=1).reshape(-1)[:count].reshape(shape)


@contextlib.contextmanager
def drawn(seed, step):
    """Replaces dropout, that of attention too, bernoulli_ and rand_like while it is active."""
    sites = itertools.count()

    def find_next(x):
        return find_words(seed, step, next(sites), tuple(x.shape))

    def dropout(x, p=0.5, training=True, inplace=False):
        if not training or p == 0:
            return x
        ratio = float(numpy.float32(p))
        kept = torch.from_numpy(find_next(x) >> numpy.uint64(1) >= round(ratio * 2**31))
        return torch.where(kept, x / (1 - ratio), torch.zeros((), dtype=x.dtype))

    attention = functional.scaled_dot_product_attention

    def attend(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, **more):
        if not dropout_p:
            return attention(query, key, value, attn_mask, 0.0, is_causal, **more)
        rows = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-1], -1)  # attention to them is its probabilities
        weights = attention(query, key, rows, attn_mask, 0.0, is_causal, **more)
        return dropout(weights, dropout_p) @ value.repeat_interleave(query.size(-3) // value.size(-3), -3)

    def rand_like(x, **more):
        return torch.from_numpy((find_next(x) >> numpy.uint64(8)) * 2.0**-24).to(x.dtype)

    def bernoulli_(x, p=0.5):
        return x.copy_(rand_like(x) < float(numpy.float32(p)))

    with (mock.patch.multiple(functional, dropout=dropout, scaled_dot_product_attention=attend),
          mock.patch.object(torch, "rand_like", rand_like), mock.patch.object(torch.Tensor, "bernoulli_", bernoulli_)):
        yield
