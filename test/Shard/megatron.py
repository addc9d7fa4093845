"""Counts the collectives of every unit and pass in a module after Shard, and prints them by class, once per class:

    megatron.py < module.mlir
    layer x 4: F 2 all_reduce 8192; B 2 all_reduce 8192

The number behind a kind is bytes on the wire per rank: an all_reduce moves its size twice, the others once (the whole, not
the piece), times (n - 1) / n.
"""

import collections
import re
import sys

OP = re.compile(r"dist\.(all_reduce|all_gather|reduce_scatter|all_to_all) .*over <tp, \[(\d+), \d+\], \[\]>.*?"
                r"#graph\.role<(\w)>, graph\.unit = #graph\.unit<\"(\w+)\", (\d+)>\} : (.*)")
SIZES = {"f32": 4, "f64": 8, "i64": 8}


def size_of(tensor):
    *shape, element = tensor.split("x")
    size = SIZES[element]
    for dimension in shape:
        size *= int(dimension)
    return size


def main():
    units = collections.OrderedDict()
    for line in sys.stdin:
        match = OP.search(line)
        if not match:
            continue
        kind, ranks, role, name, instance, types = match.groups()
        whole = max(size_of(tensor) for tensor in re.findall(r"tensor<([^>]*)>", types))
        moved = whole * (2 if kind == "all_reduce" else 1) * (int(ranks) - 1) // int(ranks)
        passes = units.setdefault((name, instance), {"F": collections.Counter(), "B": collections.Counter()})
        counts = passes["F" if role == "F" else "B"]
        counts[kind] += 1
        counts[kind, "bytes"] += moved
    classes = collections.OrderedDict()
    for (name, _), passes in units.items():
        text = "; ".join(
            p + "".join(f" {passes[p][k]} {k} {passes[p][k, 'bytes']}" for k in ("all_gather", "reduce_scatter", "all_reduce", "all_to_all")
                        if passes[p][k]) for p in "FB")
        classes[name, text] = classes.get((name, text), 0) + 1
    for (name, text), count in classes.items():
        print(f"{name} x {count}: {text}")


main()
