"""XXH3 with 64 bits, as 16 hexadecimal digits: what finds damage. Seal.h and Checksum.h of lib/Runtime/Files are the same in C++."""

import struct

from ._failure import Failure

try:
    from xxhash import xxh3_64
except ImportError as problem:
    raise Failure("xlc_checkpoint requires the package xxhash to verify checksums: pip install xxhash") from problem

BLOCK = 1 << 20  # bytes of a tensor that have a checksum of their own
DIGITS = 16
ZEROS = "0" * DIGITS


def digits_of(data):
    return xxh3_64(data).hexdigest()


def blocks_of(data):
    """The digits of each MiB of `data`, one behind the other."""
    return "".join(digits_of(data[at:at + BLOCK]) for at in range(0, len(data), BLOCK))


def fingerprint_of(tensors):
    """Which model: of (name, word, shape) of each tensor, in the order of names; the word is its kind or its type."""
    checksum = xxh3_64()

    def add_text(text):
        checksum.update(struct.pack("<Q", len(text)) + text)
    for name, word, shape in sorted((name.encode(), word.encode(), shape) for name, word, shape in tensors):
        add_text(name), add_text(word)
        checksum.update(struct.pack(f"<{len(shape) + 1}Q", len(shape), *shape))
    return checksum.hexdigest()


def find_digits(text, key):
    """Where a text has its own checksum, the member `key`; -1: it has none. `text`: bytes of JSON without blanks."""
    found = text.find(b'"%s":"' % key.encode())
    at = found + len(key) + 4
    return at if found >= 0 and len(text) >= at + DIGITS else -1


def seal(text, key):
    """`text` with its checksum in the place of the member's zeros."""
    at = find_digits(text, key)
    return text[:at] + digits_of(text).encode() + text[at + DIGITS:]


def find_damage(text, key):
    """Why a text is not what was sealed, or nothing."""
    at = find_digits(text, key)
    if at < 0:
        return "it does not record its own checksum"
    says, found = text[at:at + DIGITS].decode(errors="replace"), digits_of(text[:at] + ZEROS.encode() + text[at + DIGITS:])
    return "" if found == says else f"it has checksum {found}, but records {says}"
