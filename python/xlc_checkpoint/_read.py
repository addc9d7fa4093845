"""A checkpoint that is read: tensors whole, whatever layout wrote them, one at a time. The chain is manifest, header, block: one flipped bit
is found before what it is in is used."""

import collections.abc
import math
import pathlib
import re

import numpy

from . import _manifest
from ._failure import Failure
from ._header import Header
from ._pieces import Pieces
from ._types import stored_type, value_of


class Checkpoint(collections.abc.Mapping):
    """{key: numpy array} of all tensors: a parameter or a running average under its name, a state of the optimizer as "m/NAME". An array is
    read and verified each time that it is asked for, and nothing is kept: memory is one tensor. BF16 becomes the float32 of the same value.

    `folder`, `manifest`: where it is and what it says; `progress`: {"step", "applied", "samples"}, as done until then; `tensors`: {key: the
    entry of the manifest}."""

    def __init__(self, folder):
        """Opens a folder step-N. Raises Failure where the manifest or a header is missing or damaged."""
        self.folder = pathlib.Path(folder)
        self.manifest = _manifest.read_manifest(self.folder / _manifest.NAME)
        self.progress = self.manifest["progress"]
        self.tensors = {_manifest.key_of(tensor): tensor for tensor in self.manifest["tensors"]}
        self._headers = [Header(self.folder / file["name"], file) for file in self.manifest["files"]]
        for key, tensor in self.tensors.items():
            for file, *piece in tensor["pieces"]:
                self._headers[file].check(tensor, key, *piece)

    def __getitem__(self, key):
        """The whole tensor. Raises Failure, naming file and tensor, where a block of it is damaged."""
        tensor = self.tensors[key]
        stored, pieces = stored_type(tensor["dtype"]), Pieces(tensor["shape"], tensor["cut"])
        whole = numpy.zeros(math.prod(tensor["shape"]), stored)
        for file, index, begin, _ in tensor["pieces"]:
            for at, block in self._headers[file].read(key):
                pieces.put(whole, index, begin + at // stored.itemsize, numpy.frombuffer(block, stored))
        return value_of(whole, tensor["dtype"]).reshape(tensor["shape"])

    def __iter__(self):
        return iter(self.tensors)

    def __len__(self):
        return len(self.tensors)


def list_steps(folder):
    """Folders of steps with a manifest, the newest first; of a step, one that is being replaced comes last."""
    found = []
    for path in pathlib.Path(folder).iterdir():
        name = re.fullmatch(r"step-(\d+)(\.before)?", path.name)
        if name and (path / _manifest.NAME).exists():
            found.append((int(name[1]), name[2] is None, path))
    return [path for *_, path in sorted(found, reverse=True)]


def load(folder):
    """The Checkpoint of a folder step-N; of a folder of checkpoints the newest that is whole, which is one whose manifest and headers are.
    Raises Failure where there is none."""
    folder = pathlib.Path(folder)
    if (folder / _manifest.NAME).exists() or not folder.is_dir():
        return Checkpoint(folder)
    reasons = []
    for path in list_steps(folder):
        try:
            return Checkpoint(path)
        except Failure as problem:
            reasons.append(str(problem))
    raise Failure("; ".join([f"{folder}: has no complete checkpoint", *reasons]))
