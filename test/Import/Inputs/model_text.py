"""Prints a small model as protobuf text, from lines that are made for reading:

    param fc.weight              listed in the exporter's signature, as p_fc_weight in calls
    buffer scale                 the same for a buffer
    input x 2x4 [int]            a model input; without int its elements are floats
    tensor val_3 4x2 = 0         an initializer of one number; `random N` gives numbers that depend on N and the shape,
                                 `turned N` the transpose of them; `scalar` is a shape;
                                 `of N 3x6 EXPRESSION` what Python makes of the list v, which is `random N` of 3x6
    changed scale                the signature says that a forward pass changes this buffer
    node MatMul x val_3 -> y [NAME=INT...] [@ MODULE] [: call(%x, %p_fc_weight)]
                                 a node, the module it is in, the call in PyTorch that it came from (named like its
                                 result, or by `name = call(...)`); with `/path/MatMul` as NAME= a name of the old exporter
    output y
"""

import math
import random
import re
import sys

SIGNATURE = "pkg.torch.export.ExportedProgram.graph_signature"


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def read_shape(text):
    return [] if text == "scalar" else [int(size) for size in text.split("x")]


def make_values(kind, number, shape, of="scalar", *expression):
    size = math.prod(shape)
    if kind == "of":
        values = eval(" ".join(expression), {"math": math, "make_values": make_values, "v": make_values("random", number, read_shape(of))})
        return values if isinstance(values, list) else [values]
    if kind == "=":
        return [float(number)] * size
    generator = random.Random(int(number))
    values = [round(generator.uniform(-1, 1), 4) for _ in range(size)]
    if kind == "turned":
        rows, columns = shape
        values = [values[c * rows + r] for r in range(rows) for c in range(columns)]
    return values


def print_tensor(name, shape, *values):
    shape = read_shape(shape)
    dims = " ".join(f"dims: {size}" for size in shape)
    print(f"  initializer {{ name: {quote(name)} data_type: 1 {dims} float_data: {make_values(values[0], values[1], shape, *values[2:])} }}")


def print_node(text):
    text, _, call = text.partition(" : ")
    text, _, module = text.partition(" @ ")
    operands, _, rest = text.partition(" -> ")
    op, *inputs = operands.split()
    output, *settings = rest.split()
    line = f'  node {{ op_type: "{op}" output: {quote(output)}'
    line += "".join(f" input: {quote(name)}" for name in inputs)
    for setting in settings:
        key, value = setting.split("=")
        ints = value.startswith("[")
        kind = f"type: INTS ints: {value.replace(';', ',')}" if ints else f"type: INT i: {value}"
        line += f" name: {quote(value)}" if key == "NAME" else f' attribute {{ name: "{key}" {kind} }}'
    if module:
        scopes = f"['', '{module.strip()}', '{output}']"
        line += f' metadata_props {{ key: "pkg.torch.onnx.name_scopes" value: {quote(scopes)} }}'
    if call:
        name, _, target = call.rpartition(" = ")
        target, _, arguments = target.partition("(")
        note = (f"%{name or output} : [num_users=1] = call_function[target=torch.ops.aten.{target}](args = ({arguments}, "
                "kwargs = {})")
        line += f' metadata_props {{ key: "pkg.torch.onnx.fx_node" value: {quote(note)} }}'
    print(line + " }")


def main():
    print("opset_import { version: 20 }\ngraph {")
    listed = []
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word in ("param", "buffer"):
            kind = {"param": "PARAMETER", "buffer": "BUFFER"}[word]
            listed.append(f"{word[0]}_{re.sub('[.]', '_', rest)}: {kind} target='{rest}'")
        elif word == "changed":
            listed.append(f"next_{len(listed)}: BUFFER_MUTATION target='{rest}'")
        elif word == "input":
            name, shape, *kind = rest.split()
            dims = " ".join(f"dim {{ dim_value: {size} }}" for size in read_shape(shape))
            print(f"  input {{ name: {quote(name)} type {{ tensor_type {{ elem_type: {7 if kind else 1} "
                  f"shape {{ {dims} }} }} }} }}")
            listed.append(f"{name}: USER_INPUT")
        elif word == "tensor":
            print_tensor(*rest.split())
        elif word == "node":
            print_node(rest)
        elif word == "output":
            print(f"  output {{ name: {quote(rest)} type {{ tensor_type {{ elem_type: 1 }} }} }}")
        elif word and not word.startswith("#"):
            sys.exit(f"model_text.py: what is '{word}'?")
    if any("target=" in line for line in listed):
        print(f'  metadata_props {{ key: "{SIGNATURE}" value: {quote(chr(10).join(listed))} }}')
    print("}")


if __name__ == "__main__":
    main()
