"""edit.py IN OUT [KEY=JSON...] [-TENSOR...] [~TENSOR...] [TENSOR:DTYPE...] [=TEXT] [@FILE]: a reference file with another member of its document, without a
tensor, with a tensor (F64) each of whose elements is one larger, with a tensor that claims another type, or with another text as its document; @FILE: the change is the file's text."""

import json
import struct
import sys

data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
document = json.loads(header["__metadata__"]["xlc.reference"])
for change in sys.argv[3:]:
    change = open(change[1:]).read() if change.startswith("@") else change
    if change.startswith("="):
        document = change[1:]
    elif change.startswith("-"):
        begin, end = header.pop(change[1:])["data_offsets"]
        body = body[:begin] + body[end:]
        for name, entry in header.items():
            if name != "__metadata__" and entry["data_offsets"][0] >= end:
                entry["data_offsets"] = [at - (end - begin) for at in entry["data_offsets"]]
    elif change.startswith("~"):
        begin, end = header[change[1:]]["data_offsets"]
        elements = struct.unpack(f"<{(end - begin) // 8}d", body[begin:end])
        body = body[:begin] + struct.pack(f"<{len(elements)}d", *(value + 1 for value in elements)) + body[end:]
    elif "=" in change:
        key, value = change.split("=", 1)
        document[key] = json.loads(value)
        if document[key] is None:
            del document[key]
    else:
        name, dtype = change.rsplit(":", 1)
        header[name]["dtype"] = dtype
header["__metadata__"]["xlc.reference"] = document if isinstance(document, str) else json.dumps(document)
text = json.dumps(header).encode()
open(sys.argv[2], "wb").write(struct.pack("<Q", len(text)) + text + body)
