"""Whether a safetensors file has the tensors of a list of "NAME TYPE SHAPE VALUES...", but for those that are not floats."""

import json
import pathlib
import struct
import sys

FORMATS = {"F32": "f", "BF16": "H"}

data = pathlib.Path(sys.argv[1]).read_bytes()
size = struct.unpack_from("<Q", data)[0]
header = json.loads(data[8:8 + size])
wanted = [line.split() for line in pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()]
names = {name for name, dtype, *_ in wanted if dtype in FORMATS}
assert names == header.keys() - {"__metadata__"}, f"there are {sorted(header)}"
for name, dtype, shape, *values in wanted:
    if dtype not in FORMATS:
        continue
    entry = header[name]
    assert (entry["dtype"], "x".join(map(str, entry["shape"]))) == (dtype, shape), f"{name} is {entry}"
    begin, end = entry["data_offsets"]
    count = len(values)
    found = struct.unpack(f"<{count}{FORMATS[dtype]}", data[8 + size + begin:8 + size + end])
    if dtype == "BF16":
        found = struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(bits << 16 for bits in found)))
    assert list(found) == [float(value) for value in values], f"{name} has {found}"
