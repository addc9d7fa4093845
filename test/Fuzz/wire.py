"""ONNX files as trees of fields, so that mutants are damaged in structure and not only in bytes.

Protobuf's wire format is a list of (field number, wire type, payload). Which payloads are messages of their own is not in
the file: SCHEMA says it, for the part of ONNX that lib/Onnx/onnx.proto reads.
"""

import struct

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

# message -> {field number: message}
SCHEMA = {
    "Model": {7: "Graph", 8: "Opset", 14: "Entry", 25: "Function"},
    "Function": {7: "Node", 9: "Opset", 11: "Attribute"},
    "Graph": {1: "Node", 5: "Tensor", 11: "Value", 12: "Value", 13: "Value", 15: "Sparse", 16: "Entry"},
    "Node": {5: "Attribute", 9: "Entry"},
    "Attribute": {5: "Tensor", 6: "Graph"},
    "Tensor": {13: "Entry", 16: "Entry"},
    "Sparse": {1: "Tensor", 2: "Tensor"},
    "Value": {2: "Type"},
    "Type": {1: "TensorType"},
    "TensorType": {2: "Shape"},
    "Shape": {1: "Dimension"},
}


class Field:
    """One field; `value` is an integer, bytes, or (for a message) a list of fields."""

    def __init__(self, number, wire, value, message=None):
        self.number, self.wire, self.value, self.message = number, wire, value, message

    def copy(self):
        value = [field.copy() for field in self.value] if self.message else self.value
        return Field(self.number, self.wire, value, self.message)


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def write_varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def parse(data, message="Model"):
    fields, at = [], 0
    while at < len(data):
        tag, at = read_varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == VARINT:
            value, at = read_varint(data, at)
            fields.append(Field(number, wire, value))
            continue
        size = {FIXED64: 8, FIXED32: 4}.get(wire)
        if size is None:
            size, at = read_varint(data, at)
        value, at = bytes(data[at:at + size]), at + size
        child = SCHEMA.get(message, {}).get(number) if wire == BYTES else None
        fields.append(Field(number, wire, parse(value, child) if child else value, child))
    return fields


def serialize(fields):
    out = bytearray()
    for field in fields:
        out += write_varint(field.number << 3 | field.wire)
        if field.wire == VARINT:
            out += write_varint(field.value)
            continue
        value = serialize(field.value) if field.message else field.value
        if field.wire == BYTES:
            out += write_varint(len(value))
        out += value
    return bytes(out)


def walk(fields):
    """Yields (list, index) of every field of the tree."""
    for index, field in enumerate(fields):
        yield fields, index
        if field.message:
            yield from walk(field.value)


def float_bits(value):
    return struct.pack("<f", value)
