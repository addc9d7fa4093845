"""Makes PyTorch state dicts in the safetensors format, without PyTorch.

    state_dict.py make OUT < TEXT          one tensor a line: NAME TYPE SIZE,SIZE VALUE VALUE ... (a single value is repeated)
    state_dict.py of MODEL.onnx OUT        the float initializers of a model, by name
    state_dict.py same A B                 whether all tensors of B have the values that A has, in float32
    state_dict.py edit IN OUT EDIT...      drop:NAME, copy:NAME=NEW, rename:NAME=NEW, rename:*=PREFIX, poke:NAME (one other
                                           value), shorten:PREFIX, turn:NAME (a matrix transposed), reshape:NAME=SIZE,SIZE,
                                           train (other values everywhere), cast:TYPE
"""

import json
import math
import pathlib
import struct
import sys
import zlib

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Fuzz"))
import wire  # noqa: E402  pylint: disable=wrong-import-position

CODES = {"F32": "f", "F64": "d", "F16": "e", "I64": "q", "I32": "i", "BOOL": "?"}


def pack(dtype, values):
    if dtype == "BF16":
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    return struct.pack(f"<{len(values)}{CODES[dtype]}", *values)


def unpack(dtype, data):
    if dtype == "BF16":
        return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(CODES[dtype])}{CODES[dtype]}", data))


def write(path, tensors):
    """{name: (dtype, shape, values)}."""
    header, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        packed = pack(dtype, values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    begin = 8 + struct.unpack_from("<Q", data)[0]
    tensors = {}
    for name, entry in json.loads(data[8:begin]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            tensors[name] = (entry["dtype"], entry["shape"], unpack(entry["dtype"], data[begin + first:begin + last]))
    return tensors


def make(lines):
    tensors = {}
    for line in lines:
        if line.strip():
            name, dtype, sizes, *values = line.split()
            shape = [] if sizes == "-" else [int(size) for size in sizes.split(",")]
            number = int if dtype.startswith("I") else float
            count = math.prod(shape)
            tensors[name] = (dtype, shape, [number(value) for value in values] * (count if len(values) == 1 else 1))
    return tensors


def read_elements(tensor, content, folder):
    """The bytes of a TensorProto, from the file itself or from the one that its external_data names."""
    if content.get(14) != 1:
        return content[9]
    entries = [{part.number: part.value.decode() for part in field.value} for field in tensor if field.number == 13]
    place = {entry[1]: entry[2] for entry in entries}
    with open(folder / place["location"], "rb") as file:
        file.seek(int(place["offset"]))
        return file.read(int(place["length"]))


def initializers(path):
    with open(path, "rb") as file:
        graph = next(field for field in wire.parse(file.read()) if field.message == "Graph")
    tensors = {}
    for tensor in (field.value for field in graph.value if field.message == "Tensor"):
        content = {field.number: field.value for field in tensor}
        if content.get(2) == 1:
            shape = [field.value for field in tensor if field.number == 1]
            elements = read_elements(tensor, content, pathlib.Path(path).parent)
            tensors[content[8].decode()] = ("F32", shape, unpack("F32", elements))
    return tensors


def turn(shape, values):
    rows, columns = shape
    return [columns, rows], [values[r * columns + c] for c in range(columns) for r in range(rows)]


def train(name, values):
    """Other values, of another name other ones."""
    return [0.75 * value + 1e-6 * (zlib.crc32(name.encode()) % 9973 + i % 7) for i, value in enumerate(values)]


def edit(tensors, what):
    action, _, rest = what.partition(":")
    name, _, new = rest.partition("=")
    if action == "train":
        return {key: (dtype, shape, values if dtype.startswith("I") else train(key, values))
                for key, (dtype, shape, values) in tensors.items()}
    if action == "shorten":
        return {key.removeprefix(name): value for key, value in tensors.items()}
    if action == "cast":
        return {key: (name, shape, values) for key, (dtype, shape, values) in tensors.items()}
    if action == "rename":
        return {new + key if name == "*" else new if key == name else key: value for key, value in tensors.items()}
    dtype, shape, values = tensors[name]
    tensors = dict(tensors)
    if action == "drop":
        del tensors[name]
    elif action == "copy":
        tensors[new] = tensors[name]
    elif action == "poke":
        tensors[name] = (dtype, shape, values[:-1] + [values[-1] + 0.5])
    elif action == "turn":
        tensors[name] = (dtype, *turn(shape, values))
    elif action == "reshape":
        tensors[name] = (dtype, [int(size) for size in new.split(",")], values)
    else:
        sys.exit(f"what is {what}?")
    return tensors


def main():
    action, *paths = sys.argv[1:]
    if action == "make":
        write(paths[0], make(sys.stdin))
    elif action == "same":
        expected, found = read(paths[0]), read(paths[1])
        wrong = [name for name, tensor in found.items() if pack("F32", tensor[2]) != pack("F32", expected[name][2])]
        print(f"differ: {wrong[:6]}" if wrong else f"{len(found)} tensors have the values of the first file")
    elif action == "of":
        write(paths[1], initializers(paths[0]))
    else:
        tensors = read(paths[0])
        for what in paths[2:]:
            tensors = edit(tensors, what)
        write(paths[1], tensors)


if __name__ == "__main__":
    main()
