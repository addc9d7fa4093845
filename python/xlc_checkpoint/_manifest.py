"""The manifest of a checkpoint, checkpoint.json: a dictionary as docs/Checkpoints.md shows it."""

import json
import re

from ._checksum import ZEROS, find_damage, fingerprint_of, seal
from ._failure import Failure
from ._pieces import Pieces
from ._types import stored_type

NAME = "checkpoint.json"
LARGEST = 24 << 20  # as programs read it
VERSION = 1
KINDS = ("parameter", "buffer")  # else a state of the optimizer


def key_of(tensor):
    """As files name a tensor of the manifest: a parameter or a buffer by its name, a state as "m/NAME"."""
    return tensor["name"] if tensor["kind"] in KINDS else f"{tensor['kind']}/{tensor['name']}"


def model_of(tensors):
    return fingerprint_of((key_of(tensor), tensor["kind"], tensor["shape"]) for tensor in tensors)


def make_manifest(members):
    """The bytes of the file; `members`: all but version, checksum and model."""
    whole = {"xlc_checkpoint": VERSION, "checksum": ZEROS, "model": model_of(members["tensors"]), **members}
    return seal(json.dumps(whole, separators=(",", ":"), ensure_ascii=False).encode() + b"\n", "checksum")


def read_manifest(path):
    """What the file says, once that is known to be what was written. Raises Failure."""
    try:
        with open(path, "rb") as file:
            text = file.read(LARGEST + 1)
    except OSError as problem:
        raise Failure(f"{path}: cannot be read: {problem.strerror}") from problem
    if len(text) > LARGEST:
        raise Failure(f"{path}: is too large: a manifest has at most {LARGEST} bytes")
    if why := find_damage(text, "checksum"):
        raise Failure(f"{path}: is damaged: {why}")
    try:
        manifest = json.loads(text)
        if manifest["xlc_checkpoint"] != VERSION:
            raise Failure(f"{path}: has version {manifest['xlc_checkpoint']}, but only version {VERSION} is supported")
        check(manifest)
        return manifest
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise Failure(f"{path}: is not the manifest of a checkpoint: {problem!r}") from problem


def check(manifest):
    """ValueError, KeyError and the like where a manifest cannot be."""
    if model_of(manifest["tensors"]) != manifest["model"]:
        raise ValueError("its tensors do not belong to the model that it records")
    names, keys = [file["name"] for file in manifest["files"]], [key_of(tensor) for tensor in manifest["tensors"]]
    if len(set(names)) < len(names) or len(set(keys)) < len(keys):
        raise ValueError("a file or a tensor occurs twice")
    if not all(re.fullmatch(r"(parameters|states)-\d{5,9}\.safetensors", name) for name in names):
        raise ValueError("a file name is not that of a checkpoint file")
    for tensor in manifest["tensors"]:
        if stored_type(tensor["dtype"]) is None:
            raise ValueError(f"'{key_of(tensor)}' has type {tensor['dtype']}")
        Pieces(tensor["shape"], tensor["cut"]).check(tensor["pieces"])
        if any(not 0 <= piece[0] < len(names) for piece in tensor["pieces"]):
            raise ValueError(f"'{key_of(tensor)}' has a piece in a file that is not listed")
    if not {"step", "applied", "samples"} <= manifest["progress"].keys() or "states" not in manifest["optimizer"]:
        raise KeyError("'progress' or 'optimizer' is invalid")
