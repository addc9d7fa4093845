"""How many elements each site of a model keeps in its first step, beside PyTorch's.

    xlc plan --stop-after=Import --no-raise ... | count_kept.py slice SITES.json      a module that counts, to be interpreted
    xlc-opt --xlc-interpret=... | count_kept.py compare SITES.json                    1 where a count or a word is another

Of the imported module only what draws is left: the ops behind each graph.random_bits, and those from there to the condition under which
an element is kept. The samples' numbers, the key and the subsequences become constants.
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Operators"))
import philox  # noqa: E402

OP = re.compile(r"^\s*(%[\w#]+) = (graph\.\w+)(.*)$")
SPACE = 0x64726177


def operands_of(rest):
    return re.findall(r"%\w+", rest)


def backward(name, ops, found):
    if name in ops and name not in found:
        found.add(name)
        for operand in operands_of(ops[name][1]):
            backward(operand, ops, found)
    return found


def condition_of(bits, ops):
    """The last boolean that follows from the words and from constants alone."""
    reached, last = {bits}, None
    for name, (_, rest) in ops.items():
        operands = operands_of(rest)
        others = [operand for operand in operands if operand not in reached]
        if len(others) < len(operands) and all(is_constant(operand, ops) for operand in others):
            reached.add(name)
            last = name if rest.rstrip().endswith("xi1>") else last
    return last


def is_constant(name, ops):
    is_one = name in ops and ops[name][0] in ("graph.constant", "graph.broadcast")
    return is_one and all(is_constant(at, ops) for at in operands_of(ops[name][1]))


def make_slice(text, sites):
    low, high = philox.key_of_step(sites["seed"], 1)
    key = low | high << 32
    lines, ops = text.splitlines(), {}
    for line in lines:
        if match := OP.match(line):
            ops[match[1]] = (match[2], match[3])
    sample = re.search(r"(%\w+): tensor<(\d+)xi64> {graph.input = \"@sample\"", text)
    count = int(sample[2])
    body, results, types = [f"%samples = graph.iota dim 0 : tensor<{count}xi64>"], [], []
    needed, ends = set(), []
    for name, (kind, _) in ops.items():
        if kind == "graph.random_bits":
            ends.append((name, condition_of(name, ops)))
            for end in ends[-1]:
                backward(end, ops, needed)
    for name, (kind, rest) in ops.items():
        if name not in needed:
            continue
        if kind == "graph.site":
            number = SPACE << 32 | int(rest.split()[0])
            rest, kind = f" dense<{number}> : tensor<i64>", "graph.constant"
        elif kind == "graph.step_number":
            rest, kind = f" dense<{key - (1 << 64) if key >> 63 else key}> : tensor<i64>", "graph.constant"
        body.append(f"{name} = {kind}{rest}".replace(sample[1] + " ", "%samples "))
    for number, (words, kept) in enumerate(ends):
        shape = re.search(r"tensor<([\dx]+)xi1>$", ops[kept][1].rstrip())[1]
        axes = ", ".join(str(axis) for axis in range(shape.count("x") + 1))
        body += [f"%i{number} = graph.cast {kept} : tensor<{shape}xi1> -> tensor<{shape}xi64>",
                 f"%n{number} = graph.reduce sum %i{number} dims [{axes}] : tensor<{shape}xi64> -> tensor<i64>"]
        results.append(f"%n{number}"), types.append("tensor<i64>")
    joined = ", ".join(types)
    return "\n".join([f"func.func @kept() -> ({joined}) {{", *body, f"return {', '.join(results)} : {joined}", "}"])


def compare(text, sites):
    found = [int(number) for number in re.findall(r"kept(?:\.\d+)?: tensor<i64> \[(\d+)\]", text)]
    wanted = [site["kept_in_step_1"] for site in sites["sites"]]
    for site, (ours, theirs) in enumerate(zip(found, wanted)):
        print(f"site {site}: {ours} kept, PyTorch {theirs}")
    print("as PyTorch" if found == wanted else f"OTHERS: {found}, PyTorch {wanted}")


if __name__ == "__main__":
    what, path = sys.argv[1:]
    given = json.load(open(path, encoding="utf-8"))
    if what == "slice":
        print(make_slice(sys.stdin.read(), given))
    else:
        compare(sys.stdin.read(), given)
