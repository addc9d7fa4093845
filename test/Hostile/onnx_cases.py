"""ONNX files: y = x w + b for a spec with cross-entropy, and everything that can be wrong with such a file.

https://onnx.ai/onnx/repo-docs/IR.html; what onnx.checker refuses is refused here, but for the rows of docs/Limits.md.
"""

import pathlib
import struct
import sys

from cases import accept, refuse

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Import" / "Operators"))
from model import varint  # noqa: E402  (the encoder of the operators' cases)

FLOAT, INT64, STRING, BOOL, DOUBLE = 1, 7, 8, 9, 11


def field(number, value):
    """One field: an integer, a float, or what has a length (bytes, text, a message that is made already)."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def fields(number, values):
    return b"".join(field(number, value) for value in values)


def dimension(size):
    return b"" if size is None else field(2, size) if isinstance(size, (str, bytes)) else field(1, size)


def value_info(name, shape, kind=FLOAT):
    tensor = field(1, kind) + (b"" if shape is None else field(2, fields(1, [dimension(size) for size in shape])))
    return field(1, name) + field(2, field(1, tensor))


def tensor(name, shape, raw, kind=FLOAT, extra=b""):
    return fields(1, shape) + field(2, kind) + field(8, name) + field(9, raw) + extra


def attribute(name, **given):
    number = {"f": 2, "i": 3, "s": 4, "t": 5, "g": 6, "floats": 7, "ints": 8, "strings": 9}
    kinds = {"f": 1, "i": 2, "s": 3, "t": 4, "g": 5, "floats": 6, "ints": 7, "strings": 8}
    (kind, value), = given.items()
    content = fields(number[kind], value) if isinstance(value, list) else field(number[kind], value)
    return field(1, name) + content + field(20, kinds[kind])


def node(op, ins, outs, attributes=(), name="", domain=""):
    return fields(1, ins) + fields(2, outs) + field(3, name or f"node {op}") + field(4, op) + fields(5, attributes) + (field(7, domain) if domain else b"")


W = tensor("w", [4, 3], struct.pack("<12f", *(i / 10 for i in range(12))))
B = tensor("b", [3], struct.pack("<3f", 0.1, 0.2, 0.3))
X, Y = value_info("x", ["batch", 4]), value_info("logits", ["batch", 3])
NODES = [node("MatMul", ["x", "w"], ["h"]), node("Add", ["h", "b"], ["logits"])]


def graph(nodes=None, tensors=(W, B), inputs=(X,), outputs=(Y,), infos=(), extra=b"", name="g"):
    return (fields(1, NODES if nodes is None else nodes) + field(2, name) + fields(5, tensors) + fields(11, inputs) + fields(12, outputs) +
            fields(13, infos) + extra)


def model(content=None, opset=17, ir=8, domain="", extra=b"", opsets=None):
    opsets = [(field(1, domain) if domain else b"") + field(2, opset)] if opsets is None else opsets
    return field(1, ir) + field(2, "test") + fields(8, opsets) + extra + field(7, graph() if content is None else content)


def with_nodes(*nodes, **more):
    return model(graph([*nodes], **more))


def list_cases():
    whole = model()
    yield accept("plain", whole)
    yield accept("an initializer that is an input, too", model(graph(inputs=(X, value_info("w", [4, 3]), value_info("b", [3])))))
    yield accept("unknown fields", whole + field(1000, "later"))
    yield accept("a doc string", model(graph(extra=field(10, "words\n" * 100))))
    yield accept("dead nodes", with_nodes(*NODES, node("Relu", ["h"], ["unused"])))
    yield accept("a text of many bytes in metadata", whole + field(14, field(1, "k") + field(2, "v" * 100000)))
    yield accept("floats of float_data", model(graph(tensors=(fields(1, [4, 3]) + field(2, FLOAT) + field(8, "w") + field(4, struct.pack("<12f", *range(12))), B))))

    for at in [*range(0, 12), *range(12, len(whole) - 1, max(1, len(whole) // 24)), len(whole) - 1]:
        yield refuse(f"cut at {at}", whole[:at], "error:")
    for what, content in {"zeros": b"\0" * 1000, "text": b"hello\n", "JSON": b'{"graph": {}}', "a zip archive": b"PK\x03\x04" + b"\0" * 100, "an ELF file": b"\x7fELF" + b"\0" * 100,
                          "a length beyond the file": varint(7 << 3 | 2) + varint(1 << 40), "a length of 2^64 - 1": varint(7 << 3 | 2) + b"\xff" * 9 + b"\x01",
                          "an endless number": b"\x08" + b"\xff" * 100, "groups": b"\x0b" * 100, "a wire type of 7": b"\x0f" * 10, "field 0": b"\x02\x00"}.items():
        yield refuse(what, content, "error:")

    for opset in (0, 1, 5, 12, 22, 99, 2**31, 2**63 - 1, -1):
        yield refuse(f"opset {opset}", model(opset=opset), "opset")
    yield refuse("no opset", model(opsets=[]), "opset")
    yield refuse("two opsets of one domain", model(opsets=[field(2, 17), field(2, 18)]), "the model imports two opset versions, 17 and 18")
    yield refuse("an opset of a domain alone", model(domain="com.example"), "error:")
    yield accept("no IR version", whole[2:])  # docs/Limits.md
    for version in (0, 2, 100, 2**31):
        yield refuse(f"IR version {version}", model(ir=version), f"the file has IR version {version}, but xlc reads versions 3 to")
    yield refuse("no graph", field(1, 8) + field(8, field(2, 17)), "error:")
    yield refuse("an empty graph", model(b""), "error:")
    yield refuse("a graph without nodes", model(graph([])), "error:")
    yield accept("a graph without a name", model(graph(name="")))  # docs/Limits.md
    yield refuse("training information", model(extra=field(20, b"")), "training_info is not supported; the spec configures training")

    yield refuse("no output", model(graph(outputs=())), "error:")
    yield refuse("no input", model(graph(inputs=())), "'x'")
    yield refuse("an output that nothing makes", model(graph(outputs=(Y, value_info("ghost", [3])))), "'ghost'")
    yield accept("an output twice", model(graph(outputs=(Y, Y))))
    yield refuse("an input twice", model(graph(inputs=(X, X))), "'x'")
    yield refuse("an input without a name", model(graph(inputs=(X, value_info("", [3])))), "an input has no name")
    yield refuse("an input without a type", model(graph(inputs=(field(1, "x"),))), "'x'")
    yield refuse("an output without a type", model(graph(outputs=(field(1, "logits"),))), "output 'logits' has no type")
    yield refuse("an output of another type", model(graph(outputs=(value_info("logits", ["batch", 3], INT64),))), "output 'logits' is declared with element type int64, but is computed as f32")
    yield refuse("an output of another rank", model(graph(outputs=(value_info("logits", ["batch", 3, 1]),))), "output 'logits' is declared with 3 dimensions, but has 2")
    yield accept("an output of another size", model(graph(outputs=(value_info("logits", ["batch", 4]),))))  # docs/Limits.md
    yield refuse("an input that is a sequence", model(graph(inputs=(field(1, "x") + field(2, field(4, field(1, field(1, field(1, 1))))),))), "'x'")
    yield refuse("a scalar input", model(graph(inputs=(value_info("x", []),))), "'x'")
    yield refuse("an input of unknown rank", model(graph(inputs=(value_info("x", None),))), "'x'")
    for kind in (0, 8, 14, 15, 17, 20, 23, 99, 2**31 - 1):
        yield refuse(f"an input of element type {kind}", model(graph(inputs=(value_info("x", ["batch", 4], kind),))), "'x'")
    for size in (0, -1, -2**63, 5, 3, 2**31, 2**40, 2**63 - 1):
        yield refuse(f"x[batch, {size}]", model(graph(inputs=(value_info("x", ["batch", size]),))), "error:")
    for size in (-1, 0, 7, 2**40):
        yield refuse(f"x[{size}, 4] for a batch of one", model(graph(inputs=(value_info("x", [size, 4]),))), "'x'")
    yield refuse("17 dimensions", model(graph(inputs=(value_info("x", ["batch"] + [1] * 16),))), "'x'")
    yield refuse("a symbol without a size", model(graph(inputs=(value_info("x", ["batch", "width"]),))), "'width'")
    yield refuse("dimensions without a name", model(graph(inputs=(value_info("x", ["batch", None]),))), "'x'")

    for what, name in {"an escape": b"\x1b[31m", "NUL": b"a\0b", "a line break": b"a\nb", "no UTF-8": b"\xff\xfe", "C1": b"\xc2\x9b", "turned text": b"\xe2\x80\xae", "a megabyte": b"n" * 1000000}.items():
        yield refuse(f"a tensor's name: {what}", with_nodes(node("MatMul", ["x", name], ["h"]), NODES[1], tensors=(W.replace(b"\x42\x01w", b"\x42" + varint(len(name)) + name), B)), "error:")
        yield refuse(f"an input's name: {what}", with_nodes(node("MatMul", [name, "w"], ["h"]), NODES[1], inputs=(value_info(name, ["batch", 4]),)), "error:")
        yield refuse(f"an operator's name: {what}", with_nodes(node(name, ["x", "w"], ["h"]), NODES[1]), "error:")
        yield refuse(f"a dimension's name: {what}", model(graph(inputs=(value_info("x", [name, 4]),))), "error:")
        yield refuse(f"a domain: {what}", with_nodes(node("MatMul", ["x", "w"], ["h"], domain=name.decode("latin1")), NODES[1]), "error:")

    for what, changed in {
        "no type": fields(1, [4, 3]) + field(8, "w") + field(9, b"\0" * 48), "no name": fields(1, [4, 3]) + field(2, FLOAT) + field(9, b"\0" * 48),
        "no values": fields(1, [4, 3]) + field(2, FLOAT) + field(8, "w"), "too few bytes": tensor("w", [4, 3], b"\0" * 44),
        "too many bytes": tensor("w", [4, 3], b"\0" * 52), "a cut element": tensor("w", [4, 3], b"\0" * 47), "a negative dimension": tensor("w", [-4, 3], b"\0" * 48),
        "sizes exceeds 2^63": tensor("w", [2**62, 3, 4], b"\0" * 48), "2^32 x 2^32": tensor("w", [2**32, 2**32], b"\0" * 48), "an empty one": tensor("w", [4, 0], b""),
        "values of another type": fields(1, [4, 3]) + field(2, FLOAT) + field(8, "w") + fields(7, [1] * 12),
        "strings": fields(1, [4, 3]) + field(2, STRING) + field(8, "w") + fields(6, ["x"] * 12), "strings that are raw": tensor("w", [4, 3], b"\0" * 48, STRING),
        "type 0": tensor("w", [4, 3], b"\0" * 48, 0), "type 99": tensor("w", [4, 3], b"\0" * 48, 99), "complex numbers": tensor("w", [4, 3], b"\0" * 96, 14),
        "17 dimensions": tensor("w", [4, 3] + [1] * 15, b"\0" * 48), "whole numbers": tensor("w", [4, 3], b"\0" * 96, INT64), "a segment": tensor("w", [4, 3], b"\0" * 48, extra=field(3, field(1, 0) + field(2, 1))),
        "external data without a place": tensor("w", [4, 3], b"", extra=field(14, 1)), "another shape": tensor("w", [5, 3], b"\0" * 60),
    }.items():
        yield refuse(f"w: {what}", model(graph(tensors=(changed, B))), "error:")
    yield refuse("w: both kinds of values", model(graph(tensors=(tensor("w", [4, 3], b"\0" * 48, extra=field(4, b"\0" * 48)), B))), "initializer 'w' has values in 2 fields; only one is allowed")
    yield refuse("an initializer twice", model(graph(tensors=(W, W, B))), "'w'")
    for location in ("../secret", "/etc/passwd", "a/../../secret", ".", "", "\0", "a\0b", "/dev/zero", "/proc/self/environ"):
        places = field(13, field(1, "location") + field(2, location))
        yield refuse(f"external data at {location!r}", model(graph(tensors=(fields(1, [4, 3]) + field(2, FLOAT) + field(8, "w") + places + field(14, 1), B))), "error:")
    for key, value in (("offset", "-1"), ("offset", "1e3"), ("offset", "99999999999999999999"), ("length", "-1"), ("length", "47"), ("length", "x"), ("checksum", "x")):
        places = field(13, field(1, "location") + field(2, "data.bin")) + field(13, field(1, key) + field(2, value))
        content = model(graph(tensors=(fields(1, [4, 3]) + field(2, FLOAT) + field(8, "w") + places + field(14, 1), B)))
        if key != "checksum":
            yield refuse(f"external data with {key} {value}", content, "error:")

    for what, nodes in {
        "an operator that does not exist": [node("Matmul", ["x", "w"], ["h"]), NODES[1]], "an operator of another domain": [node("MatMul", ["x", "w"], ["h"], domain="com.example"), NODES[1]],
        "no operator": [node("", ["x", "w"], ["h"]), NODES[1]], "a value that nothing makes": [node("MatMul", ["x", "ghost"], ["h"]), NODES[1]],
        "nodes in the wrong order": [NODES[1], NODES[0]], "a circle": [node("Add", ["logits", "b"], ["h"]), node("Add", ["h", "b"], ["logits"])],
        "a value of itself": [node("Add", ["logits", "b"], ["logits"])], "a value twice": [*NODES, node("Relu", ["x"], ["h"])],
        "two results of one name": [node("Split", ["x"], ["h", "h"], [attribute("axis", i=1)]), NODES[1]], "a value that is an input": [*NODES, node("Relu", ["h"], ["x"])],
        "a value that is an initializer": [*NODES, node("Relu", ["h"], ["w"])], "no operands": [node("MatMul", [], ["h"]), NODES[1]],
        "one operand too few": [node("MatMul", ["x"], ["h"]), NODES[1]], "one operand too many": [node("MatMul", ["x", "w", "b"], ["h"]), NODES[1]],
        "an empty operand": [node("MatMul", ["x", ""], ["h"]), NODES[1]], "no results": [node("MatMul", ["x", "w"], []), NODES[1]],
                "an attribute twice": [node("Gemm", ["x", "w"], ["h"], [attribute("alpha", f=1.0), attribute("alpha", f=1.0)]), NODES[1]],
        "an attribute of another type": [node("Gemm", ["x", "w"], ["h"], [attribute("alpha", s="1")]), NODES[1]],
        "an attribute of another node": [node("Gemm", ["x", "w"], ["h"], [field(1, "transB") + field(21, "outer") + field(20, 2)]), NODES[1]],
        "shapes that do not fit": [node("MatMul", ["w", "x"], ["h"]), NODES[1]], "sizes that do not broadcast": [NODES[0], node("Add", ["h", "x"], ["logits"])],
        "an axis outside": [NODES[0], node("Softmax", ["h"], ["logits"], [attribute("axis", i=7)])], "a permutation that is none": [NODES[0], node("Transpose", ["h"], ["logits"], [attribute("perm", ints=[0, 0])])],
        "a permutation of another rank": [NODES[0], node("Transpose", ["h"], ["logits"], [attribute("perm", ints=[0, 1, 2])])], "a permutation of 2^63": [NODES[0], node("Transpose", ["h"], ["logits"], [attribute("perm", ints=[0, 2**63 - 1])])],
        "a loop": [node("Loop", ["", "", "x"], ["h"], [attribute("body", g=graph())]), NODES[1]], "a branch without one": [node("If", ["x"], ["h"]), NODES[1]],
        "a cast to nothing": [NODES[0], node("Cast", ["h"], ["logits"], [attribute("to", i=99)])], "a cast without a type": [NODES[0], node("Cast", ["h"], ["logits"])],
        "a constant without a value": [node("Constant", [], ["c"]), *NODES],
        "a reshape by a parameter": [NODES[0], node("Reshape", ["h", "b"], ["logits"])],
    }.items():
        yield refuse(what, with_nodes(*nodes), "error:")
    for what, (nodes, word) in {
        "one result too many": ([node("MatMul", ["x", "w"], ["h", "i"]), NODES[1]], "has 2 outputs, but at most 1 are supported"),
        "an attribute that the operator does not have": ([node("MatMul", ["x", "w"], ["h"], [attribute("surprise", i=1)]), NODES[1]], "has attribute 'surprise', which is not an attribute of MatMul"),
        "an attribute without a name": ([node("Gemm", ["x", "w"], ["h"], [attribute("", i=1)]), NODES[1]], "has no name"),
        "an attribute without a type": ([node("Gemm", ["x", "w"], ["h"], [field(1, "transB") + field(3, 0)]), NODES[1]], "has no type"),
        "an attribute with two values": ([node("Gemm", ["x", "w"], ["h"], [attribute("transB", i=0) + field(2, 1.0)]), NODES[1]], "has several values"),
        "concat without an axis": ([NODES[0], node("Concat", ["h"], ["logits"])], "needs attribute 'axis'"),
        "a constant with two values": ([node("Constant", [], ["c"], [attribute("value_int", i=1), attribute("value_float", f=1.0)]), *NODES], "has several value attributes; exactly one is required"),
        "a node without results": ([*NODES, node("Relu", ["h"], [])], "node 'node Relu' (Relu) has no outputs"),
        "Gemm of float and double": ([node("Gemm", ["x", "wide"], ["h"]), NODES[1]], "requires operands of one element type, but 'x' is float and 'wide' is double"),
    }.items():
        yield refuse(what, with_nodes(*nodes, tensors=(W, B, tensor("wide", [4, 3], b"\0" * 96, DOUBLE))), word)
    for what, (inputs, attributes, word) in {
        "no parts": (["h"], [attribute("num_outputs", i=0)], "has num_outputs = 0, but 2 outputs"), "2^63 - 1 parts": (["h"], [attribute("num_outputs", i=2**63 - 1)], "has num_outputs = 9223372036854775807, but 2 outputs"),
        "minus two parts": (["h"], [attribute("num_outputs", i=-2)], "has num_outputs = -2, but 2 outputs"),
        "parts and sizes": (["h", "sizes"], [attribute("num_outputs", i=2)], "has both sizes and num_outputs; exactly one of them is required"), "nothing said": (["h"], [], "has neither sizes nor num_outputs"),
        "sizes of nothing": (["h", "none"], [], "has pieces [] and 2 outputs; there must be one piece for each output, and their sum must be 3"),
    }.items():
        sizes = tensor("sizes", [2], struct.pack("<2q", 1, 2), INT64), tensor("none", [0], b"", INT64)
        split = node("Split", inputs, ["a", "b2"], [attribute("axis", i=1), *attributes])
        yield refuse(f"Split: {what}", model(graph([NODES[0], split, node("Concat", ["a", "b2"], ["j"], [attribute("axis", i=1)]), node("Add", ["j", "b"], ["logits"])], tensors=(W, B, *sizes)), opset=18), word)
    for shape in ([0, 3], [0, 2], [3, 0], [0], [0, 2**40], [2**40, 0]):
        joined = with_nodes(NODES[0], node("Concat", ["h", "none"], ["j"], [attribute("axis", i=0)]), node("Add", ["j", "b"], ["logits"]), tensors=(W, B, tensor("none", shape, b"")))
        yield accept("rows joined with nothing", joined) if shape == [0, 3] else refuse(f"rows joined with an empty {shape}", joined, "node 'node Concat' (Concat) has inputs that differ" if 2**40 not in shape else "error:")
    none = node("Constant", [], ["none"], [attribute("value", t=tensor("", [0, 3], b""))])
    yield accept("rows joined with a constant of nothing", with_nodes(NODES[0], none, node("Concat", ["none", "h", "none"], ["j"], [attribute("axis", i=0)]), node("Add", ["j", "b"], ["logits"])))
    large = tensor("large", [3], struct.pack("<3q", 0, 2**62, 2**62), INT64)
    yield refuse("a reshape of nothing to 2^124", with_nodes(*NODES, node("Reshape", ["none", "large"], ["c"], [attribute("allowzero", i=1)]), node("Transpose", ["c"], ["d"]), node("Size", ["d"], ["e"]), tensors=(W, B, tensor("none", [0], b""), large), outputs=(Y, value_info("e", [], INT64))), "exceeds 2^63")
    for sizes, what in (([0, 4], "too many elements"), ([-1, -1], "two unknown sizes"), ([-2, 3], "a size of -2"), ([2**62, 2**62], "sizes exceeds 2^63"), ([7, 7], "another number")):
        shape = tensor("shape", [len(sizes)], struct.pack(f"<{len(sizes)}q", *sizes), INT64)
        yield refuse(f"reshape to {what}", with_nodes(NODES[0], node("Reshape", ["h", "shape"], ["logits"]), tensors=(W, B, shape)), "error:")
    for count in (17, 20000, 1000000):
        shape = tensor("shape", [count], struct.pack("<q", 1) * count, INT64)
        yield refuse(f"ConstantOfShape of {count} dimensions", with_nodes(*NODES, node("ConstantOfShape", ["shape"], ["c"]), node("Add", ["c", "b"], ["d"]), tensors=(W, B, shape), outputs=(Y, value_info("d", None))), "error:")
    body = field(1, "f") + fields(4, ["a"]) + fields(5, ["r"]) + field(7, node("f", ["a"], ["r"], domain="own")) + field(9, field(2, 17)) + field(9, field(1, "own") + field(2, 1)) + field(10, "own")
    yield refuse("a function that calls itself", model(graph([node("f", ["x"], ["h2"], domain="own"), *NODES]), opsets=[field(2, 17), field(1, "own") + field(2, 1)], extra=field(25, body)), "error:")
    own = [field(2, 17), field(1, "own") + field(2, 1)]
    relu = field(1, "f") + fields(4, ["a"]) + fields(5, ["r"]) + field(7, node("Relu", ["a"], ["r"], name="inner")) + field(10, "own")
    called = graph([node("f", ["x"], ["x2"], domain="own"), node("MatMul", ["x2", "w"], ["h"]), NODES[1]])
    yield accept("a function", model(called, opsets=own, extra=field(25, relu + field(9, field(2, 17)))))
    yield refuse("a function without opset imports", model(called, opsets=own, extra=field(25, relu)), "function 'f' has node 'inner' (Relu), but does not import an opset of the node's domain 'ai.onnx'")
    yield refuse("a function of a domain that the model does not import", model(called, extra=field(25, relu + field(9, field(2, 17)))), "the model has node 'node f' (f), but does not import an opset of the node's domain 'own'")
    yield refuse("a function twice", model(extra=field(25, body) + field(25, body)), "twice")
    yield refuse("deep groups of graphs", with_nodes(deep_graph(200), *NODES), "error:")
    chain = [node("Tanh", ["h" if i == 0 else f"t{i - 1}"], [f"t{i}"], name=f"tanh {i}") for i in range(20000)]
    yield accept("a chain of 20,000 nodes", with_nodes(NODES[0], *chain, node("Add", ["t19999", "b"], ["logits"])))
    yield refuse("100,001 unknown operators", with_nodes(*[node("Nothing", ["x"], [f"v{i}"]) for i in range(100000)], node("Nothing", ["x"], ["logits"])), "Nothing")
    yield refuse("one name of a megabyte", with_nodes(node("MatMul", ["x", "w" * 1000000], ["h"]), NODES[1]), "error:")
    yield refuse("an equation of 200 kB", with_nodes(node("Einsum", ["x", "w"], ["h"], [attribute("equation", s="ab," * 70000)]), NODES[1]), "error:")
    yield accept("value_info of another type", model(graph(infos=(value_info("h", ["batch", 3], INT64),))))  # docs/Limits.md
    yield accept("value_info of another shape", model(graph(infos=(value_info("h", ["batch", 9]),))))  # docs/Limits.md
    yield refuse("sparse initializers", model(graph(extra=field(15, b""))), "sparse")


def deep_graph(depth):
    inner = graph()
    for _ in range(depth):
        inner = graph([node("If", ["c"], ["h"], [attribute("then_branch", g=inner), attribute("else_branch", g=b"")])])
    return node("If", ["x"], ["deep"], [attribute("then_branch", g=inner), attribute("else_branch", g=b"")])
