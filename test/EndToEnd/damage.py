"""Kinds of damage to a checkpoint of two ranks, as functions that change its folder: bits, sizes, files of another
checkpoint, and forged manifests with valid checksums."""

import copy
import ctypes
import itertools
import json
import os
import random
import struct

MANIFEST = "checkpoint.json"
KEY, NO_DIGITS = b'"checksum":"', b"0" * 16
BLOCK = 1 << 20


def xxh3(content):
    function = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    function.restype, function.argtypes = ctypes.c_uint64, (ctypes.c_char_p, ctypes.c_size_t)
    return f"{function(content, len(content)):016x}"


def key_of(tensor):
    return tensor["name"] if tensor["kind"] in ("parameter", "buffer") else f"{tensor['kind']}/{tensor['name']}"


def fingerprint(tensors):
    """As the program's: of names, kinds and shapes."""
    content = b""
    for key, tensor in sorted((key_of(tensor), tensor) for tensor in tensors):
        for text in (key.encode(), tensor["kind"].encode()):
            content += struct.pack("<Q", len(text)) + text
        content += struct.pack(f"<{1 + len(tensor['shape'])}Q", len(tensor["shape"]), *tensor["shape"])
    return xxh3(content)


def sealed(content):
    """A manifest's text with its own checksum."""
    at = content.index(KEY) + len(KEY)
    content = content[:at] + NO_DIGITS + content[at + 16:]
    return content[:at] + xxh3(content).encode() + content[at + 16:]


def replace(path, content):
    """The file may be a link that others have."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def flip(path, at, bit):
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << bit
    replace(path, content)


def places(path):
    """(what, tensor or None, first byte, last byte) of each part of a file: the header's, and of each tensor its first, a middle and its last
    block."""
    if path.name == MANIFEST:
        yield from (("manifest", None, size * part // 8, size * (part + 1) // 8 - 2) for size in [path.stat().st_size] for part in range(8))
        return
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
    yield from (("size", None, 0, 7), ("header", None, 8, 8 + size // 2), ("header", None, 8 + size // 2, 7 + size))
    for key, entry in header.items():
        if key != "__metadata__":
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            blocks = -(-(end - begin) // BLOCK)
            for block in sorted({0, blocks // 2, blocks - 1}):
                yield f"block {block} of {blocks}", key, begin + block * BLOCK, min(end, begin + (block + 1) * BLOCK) - 1


def flips(folder, dice, times):
    """(name, file, tensor, change)"""
    for path in sorted(folder.iterdir()):
        for what, tensor, first, last in places(path):
            for _ in range(times):
                at, bit = dice.randint(first, last), dice.randrange(8)
                yield f"bit {bit} of byte {at}, {path.name}, {what} of {tensor}", path.name, tensor, lambda to, *args: flip(to / args[0], *args[1:]), (path.name, at, bit)


def sizes(folder):
    for path in sorted(folder.iterdir()):
        size, name = path.stat().st_size, path.name
        for left in (0, 7, size // 2, size - 1):
            yield f"{name} has {left} of {size} bytes", name, None, lambda to, *args: replace(to / args[0], (to / args[0]).read_bytes()[:args[1]]), (name, left)
        for more in (1, 4096):
            yield f"{name} has {more} bytes more", name, None, lambda to, *args: replace(to / args[0], (to / args[0]).read_bytes() + bytes(args[1])), (name, more)
        yield f"{name} is missing", name, None, lambda to, name: (to / name).unlink(), (name,)


def others(folder, older, stranger):
    """Files of another rank, another step, another model; and what is no file."""
    names = sorted(path.name for path in folder.iterdir())

    def exchange(to, one, other):
        (to / one).rename(to / "between")
        (to / other).rename(to / one)
        (to / "between").rename(to / other)
    for one, other in itertools.combinations(names[1:], 2):
        yield f"{one} and {other} are exchanged", ".safetensors", None, exchange, (one, other)
    for name, (what, place) in itertools.product(names, (("step", older), ("model", stranger))):
        yield (f"{name} is of another {what}", MANIFEST if name == MANIFEST and what == "model" else "", None,
               lambda to, name, place: replace(to / name, (place / name).read_bytes()), (name, place))

    def put(make):
        def change(to, name):
            (to / name).unlink()
            make(to / name)
        return change
    for name in (names[0], names[-1]):
        yield f"{name} is a folder", name, None, put(os.mkdir), (name,)
        yield f"{name} is a pipe", name, None, put(os.mkfifo), (name,)
        yield f"{name} has no end", name, None, put(lambda path: os.symlink("/dev/zero", path)), (name,)


def forgeries():
    """(name, change of a manifest's content): each has the right checksum and the right model."""
    def tensor(change):
        return lambda manifest: change(manifest["tensors"][1])  # the weight, or a state of it

    def piece(number, value):
        return tensor(lambda each: each["pieces"][0].__setitem__(number, value))
    for huge in (2 ** 63, 2 ** 64 - 1, 2 ** 64):
        yield f"a file of {huge} bytes", lambda manifest, huge=huge: manifest["files"][0].update(bytes=huge)
        yield f"a size of {huge}", tensor(lambda each, huge=huge: each["shape"].__setitem__(0, huge))
        yield f"a piece that ends at {huge}", piece(3, huge)
        yield f"a piece that begins at {huge}", piece(2, huge)
        yield f"a piece of index {huge}", piece(1, huge)
        yield f"a piece in file {huge}", piece(0, huge)
        yield f"a cut in {huge}", tensor(lambda each, huge=huge: each["cut"].__setitem__(2, huge))
        yield f"a cut of dimension {huge}", tensor(lambda each, huge=huge: each.update(cut=[huge, 1, 2]))
    for name in ("../parameters-00000.safetensors", "a/b", "/etc/passwd", "", "parameters-00000.safetensors\0", "checkpoint.json", "x" * 100000):
        yield f"a file of the name '{name[:40]}'", lambda manifest, name=name: manifest["files"][0].update(name=name)
    yield "a piece is missing", tensor(lambda each: each["pieces"].pop())
    yield "no pieces", tensor(lambda each: each["pieces"].clear())
    yield "a piece twice", tensor(lambda each: each["pieces"].append(each["pieces"][0]))
    yield "pieces that overlap", piece(3, 64 + 1024 * 1024)
    yield "a million pieces", tensor(lambda each: each.update(pieces=[[0, 0, 2 * i, 2 * i + 2] for i in range(1024 * 1024)]))
    yield "a million tensors", lambda manifest: manifest["tensors"].extend(
        {"name": str(i), "kind": "m", "dtype": "F32", "shape": [], "cut": [0, 1, 1], "pieces": []} for i in range(200000))
    yield "a tensor twice", lambda manifest: manifest["tensors"].append(manifest["tensors"][0])
    yield "a file twice", lambda manifest: manifest["files"].append(manifest["files"][0])
    yield "no files", lambda manifest: manifest["files"].clear()
    yield "another type", tensor(lambda each: each.update(dtype="BF16"))
    yield "a type that nobody has", tensor(lambda each: each.update(dtype="F31"))
    yield "a number below zero", piece(2, -1)
    yield "a number with a fraction", piece(2, 0.5)
    yield "another version", lambda manifest: manifest.update(xlc_checkpoint=2)
    yield "a scale of zero", lambda manifest: manifest.update(loss_scale={"factor": 0, "good_in_row": 0, "overflows_left": 0, "skipped": 0, "skipped_in_row": 0})
    yield "lists in lists", lambda manifest: manifest.update(schedule=json.loads("[" * 900 + "]" * 900))
    yield "a million values", lambda manifest: manifest.update(schedule=[0] * (1 << 20))
    yield "thirty million bytes", lambda manifest: manifest.update(schedule="x" * (30 << 20))
    yield "another header of a file", lambda manifest: manifest["files"][1].update(header="0" * 16)
    yield "files in another order", lambda manifest: manifest["files"].reverse()
    for key in ("model", "progress", "random", "optimizer", "schedule", "made_by", "files", "tensors"):
        yield f"no '{key}'", lambda manifest, key=key: manifest.pop(key)


def forged(folder):
    manifest = json.loads((folder / MANIFEST).read_text())

    def forge(to, change):
        own = copy.deepcopy(manifest)
        change(own)
        if "tensors" in own and "model" in own and all(0 <= size < 2 ** 64 for tensor in own["tensors"] for size in tensor["shape"]):
            own["model"] = fingerprint(own["tensors"])
        replace(to / MANIFEST, sealed(json.dumps(own, separators=(",", ":")).encode()))
    for name, change in forgeries():
        yield f"a stranger's manifest has {name}", "", None, forge, (change,)
    for name, content in (("nothing", b""), ("no end", b'{"xlc_checkpoint":1,"checksum":"' + NO_DIGITS + b'","model":"'), ("a hundred thousand lists", b'{"checksum":"' + NO_DIGITS + b'","x":' + b"[" * 100000)):
        yield f"a stranger's manifest is {name}", MANIFEST, None, lambda to, content: replace(to / MANIFEST, sealed(content) if content else content), (content,)


def all_of(folder, older, stranger, times=2):
    """(name, file that has to be named, tensor or None, change, its arguments behind the folder)"""
    return [*flips(folder, random.Random(6), times), *sizes(folder), *others(folder, older, stranger), *forged(folder)]
