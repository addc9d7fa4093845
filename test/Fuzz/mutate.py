"""Mutants of specs and models. Each function takes a random generator and the original, and returns a damaged copy.

Byte-level: bits, bytes, cuts. Structure-level: a spec whose lines, keys and values are exchanged or extreme but whose YAML
is whole; a model whose fields are dropped, doubled, exchanged or extreme but whose protobuf is whole. The latter get far.
"""

import re

import wire

NUMBERS = [0, 1, 2, 3, 7, 64, 127, 255, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1,
           1 << 63, (1 << 64) - 1]
SCALARS = ["0", "1", "3", "-1", "2147483647", "9223372036854775808", "1e308", "-0.5", ".nan", ".inf", "''", "null", "true",
           "[]", "{}", "auto", "1GiB", "0MiB", "99999999999GiB", "0x10", "~", "'*'", "!x y", "&a b", "*a", "\"\\u0000\""]
LINES = ["dp: 65536", "dp: 3", "zero_stage: 3", "zero_stage: 1", "dp_shard: 2", "trainable: [\"!*\"]", "trainable: [\"*.bias\"]",
         "dims: {sequence: 1}", "dims: {sequence: 1000000}", "dims: {batch: 2, sequence: 32}", "init: {from: random}",
         "batch: {global: 2147483647, micro: 1}", "batch: {micro: 2147483647}", "batch: {micro: 1}",
         "cluster: {device_memory: 1MiB}", "zero: {prefetch: 1000000}", "zero: {bucket_size: 1B}", "zero: {reduce: step}",
         "runtime: {threads_per_rank: 4096}", "loss: {output: logits}", "optimizer: {type: adam, clip_norm: 0.1}",
         "loss: {type: cross_entropy, logits: logits, labels: labels, shift: true}"]


def mutate_bytes(random, data):
    data = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        at = random.randrange(len(data) + 1)
        kind = random.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << random.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = random.randrange(256)
        elif kind == 2:
            data[at:at] = bytes(random.randrange(256) for _ in range(random.randrange(1, 9)))
        elif kind == 3:
            del data[at:at + random.randrange(1, 64)]
        elif data:
            source = random.randrange(len(data))
            data[at:at] = data[source:source + random.randrange(1, 64)]
    return bytes(data[:random.randrange(len(data) + 1)] if random.random() < 0.05 else data)


def mutate_spec(random, data):
    lines = data.decode().splitlines()
    for _ in range(random.choice((1, 1, 2, 3))):
        at = random.randrange(len(lines))
        kind = random.randrange(4)
        if kind == 0:
            lines.insert(at, random.choice(LINES))
        elif kind == 1:
            key = lines[at].split(":")[0]
            lines = [line for line in lines if line.split(":")[0] != key] or [""]
            lines.append(random.choice([line for line in LINES if line.startswith(key)] or LINES))
        elif kind == 2:
            values = list(re.finditer(r"(?<=: )[^{}\[\],]+", lines[at]))
            if values:
                value = random.choice(values)
                lines[at] = lines[at][:value.start()] + random.choice(SCALARS) + lines[at][value.end():]
        elif len(lines) > 1:
            del lines[at]
    return "\n".join(lines).encode() + b"\n"


def mutate_model(random, data):
    """At most three changes, so that most of the model is still what it was."""
    fields = wire.parse(data)
    for _ in range(random.choice((1, 1, 2, 3))):
        # Shallow fields are few: choose a depth first by choosing among lists, not among all fields.
        places = list(wire.walk(fields))
        siblings, index = random.choice(places)
        change_field(random, fields, siblings, index)
    return wire.serialize(fields)


def change_field(random, fields, siblings, index):
    field = siblings[index]
    kind = random.randrange(6)
    if kind == 0:
        del siblings[index]
    elif kind == 1:
        siblings.insert(random.randrange(len(siblings) + 1), field.copy())
    elif kind == 2:
        other = random.randrange(len(siblings))
        siblings[index], siblings[other] = siblings[other], siblings[index]
    elif field.wire == wire.VARINT:
        field.value = random.choice(NUMBERS + [field.value + 1, field.value - 1, field.value * 2])
    elif field.wire == wire.FIXED32:
        field.value = wire.float_bits(random.choice((0.0, -1.0, float("nan"), float("inf"), 1e38)))
    elif not field.message:
        change_bytes(random, fields, field)
    else:
        twins = [other[at] for other, at in wire.walk(fields) if other[at].message == field.message]
        field.value = random.choice(twins).copy().value


def change_bytes(random, fields, field):
    """Names become other names of the file, tensors become shorter, longer or wild."""
    if len(field.value) < 128 and random.random() < 0.8:
        others = [other[at].value for other, at in wire.walk(fields)
                  if other[at].wire == wire.BYTES and not other[at].message and len(other[at].value) < 128]
        field.value = random.choice(others)
    else:
        field.value = mutate_bytes(random, field.value) if field.value else b"\xff" * random.randrange(1, 64)
