""".npy files in the place of x (float32 [64, 20]-like rows) and y (int64 labels) of examples/mlp.
https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html"""

import struct

from cases import accept, overflow, refuse


def build(descr, shape, data, order="False", version=(1, 0), header=None, magic=b"\x93NUMPY", length=None):
    text = header if header is not None else f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"
    text = text.encode("latin1") if isinstance(text, str) else text
    size = struct.pack("<H" if version[0] == 1 else "<I", len(text) if length is None else length)
    return magic + bytes(version) + size + text + data


def list_cases(rows, width, classes):
    """Pairs (input, case): `rows` of `width` floats for x, labels below `classes` for y."""
    floats = struct.pack(f"<{rows * width}f", *(i % 13 / 13 for i in range(rows * width)))
    labels = [i % classes for i in range(rows)]
    shape = f"({rows}, {width})"

    def ints(values, kind="q"):
        return struct.pack(f"<{len(values)}{kind}", *values)

    yield "x", accept("floats", build("<f4", shape, floats))
    for version in ((2, 0), (3, 0)):
        yield "x", accept(f"version {version[0]}", build("<f4", shape, floats, version=version))
    yield "x", accept("doubles", build("<f8", shape, struct.pack(f"<{rows * width}d", *(0.5 for _ in range(rows * width)))))
    yield "x", accept("integers for floats", build("<i4", shape, ints([1] * rows * width, "i")))
    yield "x", accept("keys in another order", build("", "", floats, header=f"{{'shape': {shape}, 'fortran_order': False, 'descr': '<f4'}}"))
    yield "x", accept("double quotes", build("", "", floats, header=f'{{"descr": "<f4", "fortran_order": False, "shape": {shape}}}'))
    yield "x", refuse("more rows than labels", build("<f4", f"({rows + 3}, {width})", floats + floats[:12 * width]), "rows")
    yield "y", accept("labels", build("<i8", f"({rows},)", ints(labels)))
    yield "y", accept("labels of 32 bits", build("<i4", f"({rows},)", ints(labels, "i")))
    yield "x", overflow("NaN", build("<f4", shape, b"\0\0\xc0\x7f" + floats[4:]))
    yield "x", overflow("infinity", build("<f4", shape, b"\0\0\x80\x7f" + floats[4:]))
    yield "x", overflow("doubles beyond floats", build("<f8", shape, struct.pack(f"<{rows * width}d", *(1e300 for _ in range(rows * width)))))

    whole = build("<f4", shape, floats)
    header = len(whole) - len(floats)
    for at in (0, 1, 5, 6, 7, 8, 9, 10, 11, header // 2, header - 1, header, header + 1, header + 4, len(whole) - 4, len(whole) - 1):
        yield "x", refuse(f"cut at {at}", whole[:at], "error:")
    yield "x", refuse("one byte more", whole + b"\0", "error:")
    for magic in (b"\x93NUMPZ", b"\x00NUMPY", b"PK\x03\x04\0\0", b"NUMPY\x93"):
        yield "x", refuse(f"magic {magic!r}", build("<f4", shape, floats, magic=magic), "not an .npy file")
    for version in ((0, 0), (4, 0), (255, 255)):
        yield "x", refuse(f"version {version}", build("<f4", shape, floats, version=version), "version")
    for length in (0, 1, 2, 65535):
        yield "x", refuse(f"a header of {length} bytes", build("<f4", shape, floats, length=length), "error:")
    for length in (2**31, 2**32 - 1):
        yield "x", refuse(f"a header of {length} bytes", build("<f4", shape, floats, version=(2, 0), length=length), "header")

    for descr in (">f4", "=f4", "|f4", "f4", "<f2", "<f16", "<c8", "<c16", "|b1", "|i1", "|u1", "<i2", "<u2", "<u8", ">i8", "|S4",
                  "<U4", "|O", "|V4", "<M8[ns]", "", "<f4 ", "\x1b[31m", "f" * 1000):
        yield "x", refuse(f"elements {descr[:20]!r}", build(descr, shape, floats), "error:")
    for descr in ("<f4", "<f8"):
        yield "y", refuse(f"labels of {descr}", build(descr, f"({rows},)", b"\0" * rows * int(descr[2])), "integers")
    records = f"{{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': {shape}}}"
    headers = {
        "nothing": "", "spaces": "   ", "no brace": f"'descr': '<f4', 'fortran_order': False, 'shape': {shape}", "an open brace": "{",
        "a list": "[]", "records": records, "no descr": f"{{'fortran_order': False, 'shape': {shape}}}",
        "no order": f"{{'descr': '<f4', 'shape': {shape}}}", "no shape": "{'descr': '<f4', 'fortran_order': False}",
        "an unknown key": f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, 'x': 1}}",
        "descr twice": f"{{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}",
        "shape twice": f"{{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), 'shape': {shape}}}",
        "no comma": f"{{'descr': '<f4' 'fortran_order': False 'shape': {shape}}}",
        "code": "{'descr': __import__('os').system('touch PWNED'), 'fortran_order': False, 'shape': (1,)}",
        "text after it": f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}} x",
        "two of them": f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}{{}}",
        "order 1": f"{{'descr': '<f4', 'fortran_order': 1, 'shape': {shape}}}",
        "order true": f"{{'descr': '<f4', 'fortran_order': true, 'shape': {shape}}}",
        "order Falsehood": f"{{'descr': '<f4', 'fortran_order': Falsehood, 'shape': {shape}}}",
        "NUL": "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}\0",
    }
    for name, text in headers.items():
        yield "x", refuse(f"header of {name}", build("", "", floats, header=text), "error:")
    yield "x", refuse("text behind the header", build("", "", floats, header=headers["text after it"]), "the header continues after its dictionary")
    yield "x", refuse("Fortran order", build("<f4", shape, floats, order="True"), "Fortran")
    for bad in ("", "()", f"({rows * width},)", f"({width}, {rows})", f"({rows}, {width}, 1)", f"(1, {rows}, {width})", f"({rows}, {width + 1})",
                f"({rows - 1}, {width})", f"({rows + 1}, {width})", f"(-{rows}, {width})", f"({rows}.0, {width})", f"({rows}, '{width}')",
                f"[{rows}, {width}]", f"({rows}, {width}", f"{rows}, {width}", f"(({rows}, {width}))", "(0, 0)", f"(0, {width})",
                f"({2**63}, {width})", f"({2**64}, {width})", f"({2**64 + rows}, {width})", f"({2**32}, {2**32})", f"(0x{rows:x}, {width})",
                f"({rows}L, {width})", "(" + "1, " * 33 + ")", "(" * 5000 + ")" * 5000, f"({rows} {width})", f"(,{rows}, {width})"):
        yield "x", refuse(f"shape {bad[:30]}", build("<f4", bad, floats), "error:")

    for value in (classes, classes + 1, -1, -2, -99, -101, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -2**63, -2**31):
        for row in (0, rows - 1):
            wrong = list(labels)
            wrong[row] = value
            yield "y", refuse(f"label {value} in row {row}", build("<i8", f"({rows},)", ints(wrong)), f"row {row}, column 0: id {value} is outside")
    yield "y", accept("labels that cross_entropy ignores", build("<i8", f"({rows},)", ints([-100] + labels[1:])))
    yield "y", refuse("too few labels", build("<i8", f"({rows - 1},)", ints(labels[1:])), "rows")
    yield "y", refuse("no labels", build("<i8", "(0,)", b""), "rows")
