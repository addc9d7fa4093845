"""Writes a checkpoint of one rank, in the order in which a program does, so that one that is interrupted at any moment leaves the checkpoint
before or this one:

    1  the folder step-N is made; a whole one of that step steps aside, what an interrupted attempt has left goes
    2  files, under temporary names: written, synced, renamed; the folder is synced
    3  checkpoint.json in the same way, and both folders are synced: now it counts
    4  the one that has stepped aside goes: its checkpoint.json first"""

import contextlib
import fcntl
import math
import os
import pathlib

from ._checksum import blocks_of, digits_of
from ._failure import Failure
from ._header import make_header
from ._manifest import KINDS, NAME, key_of, make_manifest


def write(folder, step, tensors, members):
    """Writes `folder`/step-N and returns it. `tensors`: (name, kind, dtype, shape, read), where read() gives the bytes, one tensor at a time.
    `members`: those of the manifest beside files and tensors. Raises Failure if another run is writing to that folder."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        to = folder / f"step-{step:08}"
        aside = make_room(to)
        try:
            files, entries = write_files(to, tensors)
            publish(to / NAME, lambda file: file.write(make_manifest({**members, "files": files, "tensors": entries})))
        except BaseException:
            remove(to)
            if aside.exists():
                aside.rename(to)
            raise
        sync(folder)
        remove(aside)
    return to


@contextlib.contextmanager
def locked(folder):
    """Holds the lock that a run holds which writes there."""
    with open(folder / "lock", "a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise Failure(f"{folder}: another run is writing checkpoints to it") from problem
        yield


def make_room(to):
    """Makes the folder of a step; returns where a whole one of that step is until then."""
    aside = to.with_name(to.name + ".before")
    if (to / NAME).exists():
        remove(aside)
        to.rename(aside)
        sync(to.parent)
    else:
        remove(to)
    to.mkdir()
    return aside


def remove(folder):
    """A folder of files, which does not count from the first of them on."""
    if not folder.exists():
        return
    (folder / NAME).unlink(missing_ok=True)
    sync(folder)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def write_files(to, tensors):
    """Writes them, and returns what the manifest has as "files" and "tensors"."""
    files, entries = [], []
    for name, is_model in (("parameters-00000.safetensors", True), ("states-00000.safetensors", False)):
        own = [tensor for tensor in tensors if (tensor[1] in KINDS) == is_model]
        if not own:
            continue
        for tensor, kind, dtype, shape, _ in own:
            pieces = [[len(files), 0, 0, math.prod(shape)]] if math.prod(shape) else []
            entries.append({"name": tensor, "kind": kind, "dtype": dtype, "shape": list(shape), "cut": [0, 1, 1], "pieces": pieces})
        header = publish(to / name, lambda file, part=list(zip(entries[-len(own):], own)): fill(file, part))
        files.append({"name": name, "bytes": (to / name).stat().st_size, "header": digits_of(header)})
    return files, entries


def fill(file, tensors):
    """The checksums stand before the data, and are known after them: the header, which is returned, is written twice."""
    forms, sums = [(key_of(entry), entry["dtype"], entry["shape"]) for entry, _ in tensors], {}
    file.write(make_header(forms, sums))
    for (key, *_), (_, tensor) in zip(forms, tensors):
        data = tensor[-1]()
        file.write(data)
        sums[key] = digits_of(data), blocks_of(data)
    header = make_header(forms, sums)
    file.seek(0)
    file.write(header)
    return header


def publish(path, fill_it):
    """A file that is there whole and durable, or not at all. Returns what `fill_it` does."""
    temporary = path.with_name(path.name + ".new")
    with open(temporary, "xb") as file:
        result = fill_it(file)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)
    sync(path.parent)
    return result


def sync(folder):
    """Makes what was renamed or made in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
