"""Philox 4x32-10 and the words of a site, by docs/rationale/Random.md."""

import struct

MASK = 0xFFFFFFFF


def philox(counter, key):
    a, b, c, d = counter
    for _ in range(10):
        left, right = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = right >> 32 ^ b ^ key[0], right & MASK, left >> 32 ^ d ^ key[1], left & MASK
        key = ((key[0] + 0x9E3779B9) & MASK, (key[1] + 0xBB67AE85) & MASK)
    return a, b, c, d


def key_of_step(seed, step):
    return philox((step & MASK, step >> 32, 0, 0), (seed & MASK, seed >> 32))[:2]


def word(site, element, key):
    counter = element // 4
    return philox((counter & MASK, counter >> 32, site, 0x64726177), key)[element % 4]


def as_float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]
