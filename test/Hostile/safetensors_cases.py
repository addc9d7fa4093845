"""Safetensors files for the model of examples/mlp: https://github.com/huggingface/safetensors#format"""

import json
import struct

from cases import accept, refuse

LARGEST = 100 << 20  # of a header, as the format's own library


def build(header, data, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(begin, end, shape, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def good(shapes):
    header, data = {}, b""
    for name, shape in shapes.items():
        count = 1
        for size in shape:
            count *= size
        header[name] = entry(len(data), len(data) + 4 * count, shape)
        data += struct.pack(f"<{count}f", *((i % 7 - 3) / 10 for i in range(count)))
    return header, data


def changed(header, name, **values):
    return {**header, name: {**header[name], **values}}


def list_cases(shapes):
    """`shapes`: of the program's parameters, by name, in the order of the file."""
    header, data = good(shapes)
    names = list(header)
    first, second, last = names[0], names[1], names[-1]
    size = len(data)
    begin, end = header[first]["data_offsets"]
    whole = build(header, data)
    text = json.dumps(header).encode()

    yield accept("plain", whole)
    yield accept("padded header", build(text + b" " * (8 - len(text) % 8), data))
    yield accept("metadata", build({"__metadata__": {"format": "pt", "empty": ""}, **header}, data))
    yield accept("other order of names", build(dict(reversed(header.items())), data))
    yield accept("one tensor more", build({**header, "more": entry(size, size + 4, [1])}, data + b"\0" * 4))
    yield accept("one empty tensor more", build({**header, "more": entry(size, size, [0, 3])}, data))
    yield accept("a tensor of another type more", build({**header, "more": entry(size, size + 2, [1], "BF16")}, data + b"\0\0"))
    yield accept("negative zero and denormals", build(header, struct.pack("<2I", 0x80000000, 1) + data[8:]))

    for at in (0, 1, 7, 8, 9, 8 + len(text) // 2, 8 + len(text) - 1, 8 + len(text), 8 + len(text) + 1, len(whole) - 1):
        yield refuse(f"cut at {at}", whole[:at], "error:")
    yield refuse("one byte more", whole + b"\0", "error:")
    for length in (0, 1, 2, len(text) - 1, len(text) + 1, len(whole), LARGEST + 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1):
        yield refuse(f"a header of {length} bytes", build(text, data, length), "error:")

    bad_json = {
        "nothing": b"", "spaces": b"   ", "a list": b"[]", "a number": b"1", "a string": b'"x"', "null": b"null",
        "an open brace": b"{", "a brace too many": text + b"}", "two objects": text + b"{}", "a comma at the end": text[:-1] + b",}",
        "single quotes": text.replace(b'"', b"'"), "a comment": text + b"/**/", "NUL": text + b"\0", "BOM": b"\xef\xbb\xbf" + text,
        "no UTF-8": text.replace(b"weight", b"w\xff\xfeght", 1), "an unpaired surrogate": text.replace(b"weight", b"\\ud800", 1),
        "a raw line break in a name": text.replace(b"weight", b"wei\nght", 1), "NaN": text.replace(b"[0,", b"[NaN,", 1),
        "depth": b'{"a":' * 5000 + b"1" + b"}" * 5000, "depth of lists": b'{"a":' + b"[" * 100000 + b"]" * 100000 + b"}",
    }
    for name, value in bad_json.items():
        yield refuse(f"header of {name}", build(value, data), "error:")

    for what, value in {"a string": "F32", "a list": [], "null": None, "a number": 1, "empty": {}}.items():
        yield refuse(f"an entry that is {what}", build({**header, first: value}, data), first)
    for key in ("dtype", "shape", "data_offsets"):
        rest = {k: v for k, v in header[first].items() if k != key}
        yield refuse(f"no {key}", build({**header, first: rest}, data), first)
        yield refuse(f"null for {key}", build(changed(header, first, **{key: None}), data), first)
        twice = json.dumps(header[first])[:-1] + f', "{key}": {json.dumps(header[first][key])}}}'
        yield refuse(f"{key} twice", build(text.replace(json.dumps(header[first]).encode(), twice.encode(), 1), data), first)
    yield refuse("a key that the format does not have", build(changed(header, first, extra=1), data), first)
    for dtype in ("f32", "F31", "", "F32 ", "float32", "F8", "\u001b[31m", 32, ["F32"]):
        yield refuse(f"type {dtype!r}", build(changed(header, first, dtype=dtype), data), first)
    for dtype, width in (("F64", 8), ("F16", 2), ("I32", 4), ("BOOL", 1)):
        yield refuse(f"elements of {dtype} in the room of F32", build(changed(header, first, dtype=dtype), data), first)
    shape = header[first]["shape"]
    for what, value in {"transposed": shape[::-1], "flat": [(end - begin) // 4], "one more": [shape[0] + 1, *shape[1:]],
                        "scalar": [], "negative": [-shape[0], -shape[1]], "fractions": [float(shape[0]) + 0.5, shape[1]],
                        "a float that is whole": [float(shape[0]), shape[1]],
                        "strings": [str(n) for n in shape], "a string": "64x64", "null inside": [None, shape[1]],
                        "true": [True, *shape], "2^63": [2**63, 2], "2^64": [2**64], "2^32 x 2^32": [2**32, 2**32],
                        "nested": [shape], "deep": [1] * 100000}.items():
        yield refuse(f"shape {what}", build(changed(header, first, shape=value), data), first)
    for what, value in {"one number": [begin], "three": [begin, end, end], "none": [], "a float": [begin, end + 0.5],
                        "a whole float": [begin, float(end)],
                        "exponent": None, "reversed": [end, begin], "negative": [-4, end - 4], "beyond": [begin, size + 4],
                        "2^64 - 4": [2**64 - 4, 0], "2^64": [2**64, 2**64 + 4], "strings": [str(begin), str(end)],
                        "an object": {"0": begin, "1": end}, "true": [False, end]}.items():
        if what == "exponent":
            exact = json.dumps(header[first]["data_offsets"]).encode()
            yield refuse("offsets with an exponent", build(text.replace(exact, exact.replace(str(end).encode(), b"%de0" % end), 1), data), first)
        else:
            yield refuse(f"offsets {what}", build(changed(header, first, data_offsets=value), data), first)

    yield refuse("two tensors at one place", build(changed(header, last, data_offsets=header[last]["data_offsets"]) | {
        "copy": header[last]}, data), "copy")
    yield refuse("overlap by one element", build(changed(header, second, data_offsets=[
        header[second]["data_offsets"][0] - 4, header[second]["data_offsets"][1] - 4]), data), "error:")
    yield refuse("a hole at the begin", build({name: entry(*(at + 4 for at in value["data_offsets"]), value["shape"])
                                               for name, value in header.items()}, b"\0" * 4 + data), "error:")
    holed = {name: (value if name == first else entry(*(at + 8 for at in value["data_offsets"]), value["shape"]))
             for name, value in header.items()}
    yield refuse("a hole in the middle", build(holed, data[:end] + b"\0" * 8 + data[end:]), "error:")
    yield refuse("a hole at the end", build(header, data + b"\0" * 4), "error:")
    yield refuse("a name twice", build(b'{"' + first.encode() + b'":' + json.dumps(header[first]).encode() + b"," + text[1:], data), "twice")
    for name in (first, last):
        yield refuse(f"no {name}", build(*without(header, data, name)), name)
        yield refuse(f"{name} with a space", build({(key + " " if key == name else key): value for key, value in header.items()}, data), name)
    for what, value in {"a list": [], "a string": "x", "numbers": {"a": 1}, "nested": {"a": {"b": "c"}}, "null": None}.items():
        yield refuse(f"metadata that is {what}", build({"__metadata__": value, **header}, data), "__metadata__")
    yield refuse("metadata twice", build(b'{"__metadata__":{},"__metadata__":{},' + text[1:], data), "twice")
    yield refuse("nothing but metadata", build({"__metadata__": {}}, b""), first)
    yield refuse("an npy file", b"\x93NUMPY\x01\0v\0{'descr': '<f4'}" + b" " * 100, "error:")
    yield refuse("a zip archive", b"PK\x03\x04" + b"\0" * 200, "error:")
    yield refuse("an ONNX file", b"\x08\x08\x12\x07pytorch" + b"\0" * 100, "error:")
    many = {f"t{i}": entry(size + 4 * i, size + 4 * i + 4, [1]) for i in range(100000)}
    yield accept("100,000 tensors more", build({**header, **many}, data + b"\0" * 400000))
    yield refuse("100,000 tensors at one place", build({**header, **{name: entry(0, 4, [1]) for name in many}}, data), "error:")


def without(header, data, gone):
    result, kept = {}, b""
    for name, value in header.items():
        if name != gone:
            begin, end = value["data_offsets"]
            result[name] = {**value, "data_offsets": [len(kept), len(kept) + end - begin]}
            kept += data[begin:end]
    return result, kept
