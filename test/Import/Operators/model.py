"""ONNX files from Python: the wire format of the messages that a test needs, and nothing else."""

import struct

from tensors import Array, FORMATS

ELEMENT_TYPES = {"f": 1, "d": 11, "i": 7, "I": 6, "b": 9}


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor(array, name=""):
    data = struct.pack(f"<{len(array.data)}{FORMATS[array.kind]}", *array.data)
    return (b"".join(number(1, size) for size in array.shape) + number(2, ELEMENT_TYPES[array.kind]) + text(8, name)
            + text(9, data))


def attribute(name, value):
    """Of the kind that the Python value has; integers and floats are kept apart."""
    body = text(1, name)
    if isinstance(value, Array):
        return body + text(5, tensor(value)) + number(20, 4)
    if isinstance(value, str):
        return body + text(4, value) + number(20, 3)
    if isinstance(value, float):
        return body + varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    if isinstance(value, int):
        return body + number(3, value) + number(20, 2)
    if value and isinstance(value[0], float):
        return body + b"".join(varint(7 << 3 | 5) + struct.pack("<f", v) for v in value) + number(20, 6)
    return body + b"".join(number(8, v) for v in value) + number(20, 7)


def node(op, inputs, outputs, attributes=None, name=""):
    """Attributes that are called as keys of our own (`xlc.stop_gradient`) are metadata."""
    given = (attributes or {}).items()
    return text(1, b"".join(text(1, i) for i in inputs) + b"".join(text(2, o) for o in outputs) + text(3, name)
                + text(4, op) + b"".join(text(5, attribute(k, v)) for k, v in given if "." not in k)
                + b"".join(text(9, text(1, k) + text(2, v)) for k, v in given if "." in k))


def value(field, name, kind, shape):
    dims = b"".join(text(1, number(1, size)) for size in shape)
    kinds = number(1, ELEMENT_TYPES[kind]) + text(2, dims)
    return text(field, text(1, name) + text(2, text(1, kinds)))


def model(opset, nodes, inputs, outputs):
    """`nodes` are encoded; inputs are (name, kind, shape), outputs are names of floats."""
    graph = b"".join(nodes) + text(2, "cases") + b"".join(value(11, *i) for i in inputs)
    graph += b"".join(text(12, text(1, name) + text(2, text(1, number(1, 1)))) for name in outputs)
    return number(1, 8) + text(7, graph) + text(8, text(1, "") + number(2, opset))
