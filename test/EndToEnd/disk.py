"""What a file system may have after a power cut, from the calls of a run up to then (FileCalls.cpp writes them down).

Contents are safe once their file was synced; a name that was made, moved or taken away is so once its folder was. All else may be there
or not. Of what may be, four are made:

    missing    nothing that was not synced
    names      all names, and of contents what was synced
    some       each name and each write by a dice, which does not keep the order
    now        all of it: what a killed process leaves
"""

import dataclasses
import hashlib
import os
import random

VIEWS = ("missing", "names", "some", "now")


@dataclasses.dataclass
class Call:
    """One that has succeeded, with paths below the disk."""
    what: str
    path: str
    other: str = ""
    offset: int = 0
    data: bytes = b""

    def __str__(self):
        return f"{self.what} {self.path}{' to ' * bool(self.other)}{self.other}"


def read_calls(path, disk):
    """Those of a trace."""
    calls, text = [], path.read_bytes()
    while text:
        line, text = text.split(b"\n", 1)
        what, at, other, offset, size = line.decode().split("\t")
        calls.append(Call(what, *(os.path.relpath(name, disk) if name else "" for name in (at, other)), int(offset), text[:int(size)]))
        text = text[int(size):]
    return calls


class File:
    def __init__(self, data=b"", synced=b""):
        self.data, self.synced = data, synced

    def sync(self):
        self.synced = self.data

    def write(self, offset, data):
        self.data = self.data[:offset].ljust(offset, b"\0") + data + self.data[offset + len(data):]

    def view(self, how, dice):
        if how == "some":
            some = dice.randint(min(len(self.synced), len(self.data)), len(self.data))
            return dice.choice((self.synced, self.data, self.data[:some]))
        return self.data if how == "now" else self.synced


class Folder:
    """`names` are there for who asks now; `synced` are on the disk, and `pending` what has changed since."""

    def __init__(self, names=None):
        self.names = names or {}
        self.sync()

    def sync(self):
        self.synced, self.pending = dict(self.names), []

    def change(self, what, name, node):
        """A name that appears, or the node of one that goes (`what` is None), or moves there from the name `what`."""
        self.pending.append((what, name, node))
        self.apply(self.names, what, name, node)

    @staticmethod
    def apply(names, what, name, node):
        if node is None:
            names.pop(name, None)
        elif what is None or what in names:
            names.pop(what, None)
            names[name] = node

    def view(self, how, dice):
        names = self.synced if how == "missing" else self.names
        if how == "some":
            names, kept = dict(self.synced), dice.choice((0.5, 0.9))
            for change in self.pending:
                if dice.random() < kept:
                    self.apply(names, *change)
        return {name: node.view(how, dice) for name, node in names.items()}


class Disk:
    """A folder, and what calls have made of it. `folder`: what was there before, all synced."""

    def __init__(self, folder):
        self.root = self.read(folder)

    @classmethod
    def read(cls, path):
        if path.is_dir():
            return Folder({each.name: cls.read(each) for each in path.iterdir()})
        return File(path.read_bytes(), path.read_bytes())

    def find(self, path):
        node = self.root
        for part in [] if path == "." else path.split("/"):
            node = node.names.get(part) if isinstance(node, Folder) else None
        return node

    def do(self, call):
        place, _, name = call.path.rpartition("/")
        folder, node = self.find(place or "."), self.find(call.path)
        if call.what == "fsync":
            if node:  # else it was removed while it was open
                node.sync()
        elif call.what == "write":
            if node:
                node.write(call.offset, call.data)
        elif call.what in ("create", "truncate"):
            if not node:
                folder.change(None, name, File())
            elif call.what == "truncate":
                node.data = b""
        elif call.what == "mkdir":
            folder.change(None, name, Folder())
        elif call.what in ("unlink", "rmdir"):
            folder.change(None, name, None)
        elif call.what == "rename":
            assert place == call.other.rpartition("/")[0], f"{call} leaves its folder"
            folder.change(name, call.other.rpartition("/")[2], node)
        else:
            raise ValueError(f"{call} is none that is known")

    def view(self, how, seed=0):
        """{name: bytes, or of a folder the same}"""
        return self.root.view(how, random.Random(seed))


def digest(view):
    """A number for what is there."""
    found = hashlib.sha256()
    for name, node in sorted(view.items()):
        found.update(f"{name} {type(node)} {len(node)} ".encode())
        found.update(digest(node) if isinstance(node, dict) else node)
    return found.digest()


def write(view, path):
    """Makes a folder of a view."""
    path.mkdir(parents=True)
    for name, node in view.items():
        if isinstance(node, dict):
            write(node, path / name)
        else:
            (path / name).write_bytes(node)
