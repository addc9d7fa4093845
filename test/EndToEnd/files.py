"""The file formats that end-to-end tests read and write, with Python's standard library only.

.npy (one array, C order), .safetensors (named float32 tensors) and the JSON traces of PyTorch's runs. Only what the
tests need: elements are f4, f8, i4 or i8.
"""

import array
import ast
import json
import struct

TYPE_CODES = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|b1": "B", "<u2": "H", "|u1": "B"}


def read_npy(path):
    """Returns (descr, shape, values): the elements as one flat array."""
    data = path.read_bytes()
    length = struct.unpack_from("<H", data, 8)[0]
    header = ast.literal_eval(data[10:10 + length].decode())
    values = array.array(TYPE_CODES[header["descr"]])
    values.frombytes(data[10 + length:])
    return header["descr"], header["shape"], values


def write_npy(path, descr, shape, values):
    header = repr({"descr": descr, "fortran_order": False, "shape": tuple(shape)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = array.array(TYPE_CODES[descr], values).tobytes()
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def repeat_npy(path, to, copies):
    """Writes the rows of a file so many times, with no more memory than they take once."""
    descr, shape, values = read_npy(path)
    write_npy(to, descr, (copies * shape[0], *shape[1:]), ())
    with open(to, "ab") as file:
        for _ in range(copies):
            file.write(values.tobytes())


def read_safetensors(path):
    """Returns {name: (shape, values)}; every tensor is float32."""
    data = path.read_bytes()
    size = struct.unpack_from("<Q", data)[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        assert entry["dtype"] == "F32", f"{path}: {name} has type {entry['dtype']}"
        begin, end = entry["data_offsets"]
        values = array.array("f")
        values.frombytes(data[8 + size + begin:8 + size + end])
        tensors[name] = (tuple(entry["shape"]), values)
    return tensors


def round_to_bf16(value):
    """A float32 to the nearest bfloat16, ties to even."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000))[0]


def read_log(path):
    """The steps of a --log file, one JSON object per line; those of evaluations are read by `read_evaluations`."""
    return [line for line in map(json.loads, path.read_text().splitlines()) if "eval" not in line]


def read_evaluations(path):
    """Those of a --log file, by step."""
    return {line["step"]: line["eval"] for line in map(json.loads, path.read_text().splitlines()) if "eval" in line}
