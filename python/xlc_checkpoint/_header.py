"""The header of a file of a checkpoint: safetensors, whose `__metadata__` says of each entry KEY

    xlc.xxh3.KEY, xlc.blocks.KEY    its checksum, and that of each MiB of it
    xlc.piece.KEY, xlc.shape.KEY    of a piece: which part it is of a tensor of which shape

and has a checksum of the header itself."""

import json
import math
import struct

from ._checksum import BLOCK, DIGITS, ZEROS, digits_of, find_damage, fingerprint_of, seal
from ._failure import Failure
from ._types import stored_type

LONGEST = 100 << 20  # as the format's own library
OWN = "xlc.header"


def make_header(tensors, sums):
    """Its bytes, for whole tensors (key, dtype, shape) that lie one behind the other. `sums`: {key: (digits, digits of its blocks)};
    what is not there yet is zeros, so that the length is the same."""
    metadata, entries, at = {"format": "pt", OWN: ZEROS, "xlc.model": fingerprint_of((key, dtype, shape) for key, dtype, shape in tensors)}, {}, 0
    for key, dtype, shape in tensors:
        size = math.prod(shape) * stored_type(dtype).itemsize
        metadata[f"xlc.xxh3.{key}"], metadata[f"xlc.blocks.{key}"] = sums.get(key, (ZEROS, ZEROS * -(-size // BLOCK)))
        entries[key] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps({"__metadata__": metadata, **entries}, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return seal(struct.pack("<Q", len(text)) + text, OWN)


class Header:
    """Of a file that is there: `begin`, where its data begin; `entries`, {key: (dtype, shape, begin, end)}."""

    def __init__(self, path, listed):
        """`listed`: the file's "bytes" and "header" in the manifest. Raises Failure where they are others."""
        self.path = path
        size, text = read_text(path)
        if size != listed["bytes"]:
            raise self.damage(f"it has {size} bytes, but the manifest records {listed['bytes']}")
        if digits_of(text) != listed["header"]:
            raise self.damage(f"its header has checksum {digits_of(text)}, but the manifest records {listed['header']}")
        if why := find_damage(text, OWN):
            raise self.damage(f"its header is invalid: {why}")
        self.begin = len(text)
        try:
            header = json.loads(text[8:])
            self.metadata = header.pop("__metadata__")
            self.entries = {key: (entry["dtype"], entry["shape"], *entry["data_offsets"]) for key, entry in header.items()}
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise self.damage(f"its header is not a checkpoint header: {problem!r}") from problem

    def damage(self, why):
        return Failure(f"{self.path}: is damaged: {why}")

    def check(self, tensor, key, index, begin, end):
        """Raises Failure where an entry is not elements [begin, end) of piece `index` of `tensor`, as the manifest has it."""
        dtype, shape, first, last = self.entries.get(key, (None, None, 0, 0))
        size = (end - begin) * stored_type(tensor["dtype"]).itemsize
        says = [0, 1, 1, 0, 0, end] if f"xlc.piece.{key}" not in self.metadata else self._numbers(f"xlc.piece.{key}")
        whole = shape if f"xlc.shape.{key}" not in self.metadata else self._numbers(f"xlc.shape.{key}")
        if (dtype, whole, last - first, says) != (tensor["dtype"], tensor["shape"], size, [*tensor["cut"], index, begin, end]):
            raise self.damage(f"'{key}' is missing, or is a different piece of the tensor than the manifest records")
        if len(self.metadata.get(f"xlc.blocks.{key}", "")) != -(-size // BLOCK) * DIGITS:
            raise self.damage(f"'{key}' has no block checksums")

    def _numbers(self, key):
        return [int(number) for number in self.metadata[key].split()]

    def read(self, key):
        """Gives (its place in the entry, bytes) of each block, verified; the place is in bytes. Raises Failure."""
        _, _, first, last = self.entries[key]
        says = self.metadata[f"xlc.blocks.{key}"]
        with open(self.path, "rb") as file:
            file.seek(self.begin + first)
            for number, at in enumerate(range(0, last - first, BLOCK)):
                block = file.read(min(BLOCK, last - first - at))
                wanted, found = says[number * DIGITS:(number + 1) * DIGITS], digits_of(block)
                if found != wanted:
                    raise self.damage(f"'{key}': its bytes {at} to {at + len(block)} have checksum {found}, but the header "
                                      f"records {wanted}")
                yield at, block


def read_text(path):
    """(bytes of a file, all before its data)"""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            start = file.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            if length > min(LONGEST, size - 8):
                raise Failure(f"{path}: is damaged: its header would have {length} bytes, but the file has {size}")
            return size, start + file.read(length)
    except OSError as problem:
        raise Failure(f"{path}: cannot be read: {problem.strerror}") from problem
