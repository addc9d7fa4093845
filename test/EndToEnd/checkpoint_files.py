"""Reads a checkpoint as docs/Checkpoints.md specifies it, with Python's standard library only: every element of every
tensor comes from the piece that contains it."""

import json
import math
import struct

SIZES = {"F32": 4, "BF16": 2, "F16": 2, "F64": 8}


class Tensor:
    """The elements of a whole tensor, as bytes."""

    def __init__(self, entry):
        self.dtype, self.shape = entry["dtype"], entry["shape"]
        self.size = SIZES[self.dtype]
        self.bytes = bytearray(math.prod(self.shape) * self.size)
        self.dim, self.outer, self.parts = entry["cut"]

    def put(self, index, begin, end, data):
        """Elements [begin, end) of piece `index`; padding behind a short last block goes nowhere."""
        if self.parts == 1:
            self.bytes[begin * self.size:end * self.size] = data
            return
        run = self.shape[self.dim] // self.outer
        block, rest = -(-run // self.parts), math.prod(self.shape[self.dim + 1:])
        first = min(run, index * block)
        valid, width = min(block, run - first) * rest, block * rest
        for row in range(begin // width, -(-end // width)):
            low, high = max(begin, row * width), min(end, row * width + valid)
            if low < high:
                at = ((row * run + first) * rest + low - row * width) * self.size
                self.bytes[at:at + (high - low) * self.size] = data[(low - begin) * self.size:(high - begin) * self.size]


def read_entries(path):
    """{key: bytes} of a safetensors file."""
    data = path.read_bytes()
    size = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__")
    return {key: data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]] for key, entry in header.items()}


def read(folder):
    """(manifest, {key: (dtype, shape, bytes)})"""
    manifest = json.loads((folder / "checkpoint.json").read_text())
    files = [read_entries(folder / file["name"]) for file in manifest["files"]]
    tensors = {}
    for entry in manifest["tensors"]:
        tensor = Tensor(entry)
        key = entry["name"] if entry["kind"] in ("parameter", "buffer") else f"{entry['kind']}/{entry['name']}"
        for file, index, begin, end in entry["pieces"]:
            tensor.put(index, begin, end, files[file][key])
        tensors[key] = (tensor.dtype, tensor.shape, bytes(tensor.bytes))
    return manifest, tensors


def newest(folder):
    return max(path for path in folder.iterdir() if (path / "checkpoint.json").exists())
