"""The rows of a run, and their sum, computed only from the definition in docs/Spec.md (data.shuffle) and
docs/Runtime.md."""

import ctypes
import math

MASK = (1 << 32) - 1


def philox(counter, key):
    """Ten rounds of Philox 4x32."""
    c, k = list(counter), list(key)
    for _ in range(10):
        left, right = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(right >> 32) ^ c[1] ^ k[0], right & MASK, (left >> 32) ^ c[3] ^ k[1], left & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def shuffled(x, rows, epoch, seed):
    """The row at place x of an epoch."""
    a = math.isqrt(rows - 1) + 1
    b = -(-rows // a)
    while True:
        left, right = divmod(x, b)
        for r in range(16):
            v = left if r % 2 else right
            w = philox((v & MASK, v >> 32, epoch & MASK, r), (seed & MASK, seed >> 32))
            f = w[1] << 32 | w[0]
            if r % 2:
                right = (right + f % b) % b
            else:
                left = (left + f % a) % a
        x = left * b + right
        if x < rows:
            return x


def row_of(sample, rows, seed=None):
    """The row of a sample of the run; without a seed in order."""
    return sample % rows if seed is None else shuffled(sample % rows, rows, sample // rows, seed)


def sum_of_rows(samples, rows_of_inputs, rows, seed=None):
    """Of the first samples of a run: `rows_of_inputs` are functions from a row's number to its bytes."""
    xxh3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits_withSeed
    xxh3.restype, xxh3.argtypes = ctypes.c_uint64, (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64)
    total = 0
    for sample in range(samples):
        row = row_of(sample, rows, seed)
        for bytes_of in rows_of_inputs:
            content = bytes_of(row)
            total += xxh3(content, len(content), sample)
    return f"{total % (1 << 64):016x}"
