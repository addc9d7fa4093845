#!/usr/bin/env python3
"""Plants mistakes in rules of gradients and of import, one at a time, and shows that the references of the small models find each:

    python3 test/Reference/planted.py [NAME...]      by hand: it edits sources, builds xlc, and puts them back; ten minutes

A mistake is found where `xlc plan` ends with 4 for one of the models in test/Inputs/references that train as in PyTorch. Wrong
factors of tensor parallelism are planted by unittests/Shard/PlantedFactors.cpp: a reference is compared with one rank.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
XLC = ROOT / "build" / "bin" / "xlc"
MODELS = ["attention", "bfloat16", "conv-norm", "ignored-labels", "image", "logits", "mlp", "multi-hot", "pools", "stopped", "tied", "top", "written"]
SPECS = {"logits": "batch: {micro: 2}\nloss: {type: cross_entropy, logits: logits, labels: labels}\n"}
ELEMENTWISE = "lib/Differentiate/ElementwiseGradients.cpp"
NAMED = "lib/Differentiate/NamedGradients.cpp"
SHAPE = "lib/Differentiate/ShapeGradients.cpp"
NORMS = "lib/Import/RulesNorms.cpp"
LOSS = "lib/Import/RulesLoss.cpp"

# name: (file, what stands there, what stands there then)
FAULTS = {
    "tanh-slope": (ELEMENTWISE, "b.mul(dy[0], b.sub(b.number(1, y), b.mul(y, y)))", "b.mul(dy[0], b.sub(b.number(1, y), y))"),
    "sigmoid-slope": (ELEMENTWISE, "b.mul(dy[0], b.mul(y, b.sub(b.number(1, y), y)))", "b.mul(dy[0], y)"),
    "sqrt-half": (ELEMENTWISE, "Value half = b.scale(dy[0], 1, 2);", "Value half = b.scale(dy[0], 1, 1);"),
    "mul-operand": (ELEMENTWISE, "b.contribute(i, b.mul(dy[0], op->getOperand(1 - i)));",
                    "b.contribute(i, b.mul(dy[0], op->getOperand(1)));"),
    "div-numerator": (ELEMENTWISE, "Value share = b.div(dy[0], op->getOperand(1));", "Value share = b.mul(dy[0], op->getOperand(1));"),
    "contract-twice": (NAMED, "b.contribute(1, b.contract((a + \",\" + y + \"->\" + other).str(), c.getA(), dy[0]));",
                       "b.contribute(1, b.scale(b.contract((a + \",\" + y + \"->\" + other).str(), c.getA(), dy[0]), 2, 1));"),
    "convolution-pads": (NAMED, "dy[0], c.getW(), c.getGroups(), c.getStrides(),\n"
                                "                                                     c.getDilations(), c.getPads()));",
                         "b.neg(dy[0]), c.getW(), c.getGroups(), c.getStrides(),\n"
                         "                                                     c.getDilations(), c.getPads()));"),
    "layer-norm-bias": (NAMED, "b.contribute(2, weights.getDbias());", "b.contribute(2, weights.getDweight());"),
    "attention-values": (NAMED, "for (unsigned i : {0u, 1u, 2u})\n    b.contribute(i, backward->getResult(i));",
                         "for (unsigned i : {0u, 1u, 2u})\n    b.contribute(i, i == 1 ? b.neg(backward->getResult(i)) : backward->getResult(i));"),
    "max-pool-none": (NAMED, "b.contribute(0, b.create<MaxPoolBackwardOp>(pool.getX().getType(), pool.getX(), dy[0],",
                      "b.contribute(0, b.create<MaxPoolBackwardOp>(pool.getX().getType(), pool.getX(), b.neg(dy[0]),"),
    "reduce-max-share": (SHAPE, "b.contribute(0, b.mul(spread, share));", "b.contribute(0, b.add(spread, b.scale(share, 0, 1)));"),
    "slice-offsets": (SHAPE, "SmallVector<int64_t> offsets(slice.getOffsets());", "SmallVector<int64_t> offsets(slice.getOffsets().size(), 0);"),
    "concat-offsets": (SHAPE, "    offsets[dimension] += typeOf(x).getDimSize(dimension);\n",
                       "    offsets[dimension] += 0;\n"),
    "gather-padding": (SHAPE, "Value updates = padding ? maskPadding", "Value updates = padding && !padding ? maskPadding"),
    "scatter-base": (SHAPE, "      Value none = b.number(0, updates);", "      Value none = b.number(1, updates);"),
    "scatter-updates": (SHAPE, "      b.contribute(2, takeAtPlaces(b, scatter, dy[0]));",
                        "      b.contribute(2, b.neg(takeAtPlaces(b, scatter, dy[0])));"),
    "ignored-labels": (LOSS, "return n.builder.getI64IntegerAttr(given);", "return n.builder.getI64IntegerAttr(given - 1);"),
    "batch-norm-epsilon": (NORMS, "double epsilon = getFloat(n.node, \"epsilon\", 1e-5), keep", "double epsilon = 0.1, keep"),
    "batch-norm-average": (NORMS, "keep = getFloat(n.node, \"momentum\", 0.9);", "keep = 1 - getFloat(n.node, \"momentum\", 0.9);"),
    "batch-norm-unbiased": (NORMS, "planes.scale(variance, planes.count(), planes.count() - 1)", "planes.scale(variance, 1, 1)"),
    "gemm-alpha": ("lib/Import/RulesLinear.cpp", "y = multiply(n, y, getFloat(n.node, \"alpha\", 1));",
                   "y = multiply(n, y, 2 * getFloat(n.node, \"alpha\", 1));"),
    "attention-scale": ("lib/Raise/RaiseAttention.cpp", "llvm::APFloat(scale), window", "llvm::APFloat(0.5 * scale), window"),
}


def build():
    made = subprocess.run(["ninja", "-C", str(ROOT / "build"), "xlc"], capture_output=True, text=True, check=False)
    return "" if made.returncode == 0 else made.stdout[-2000:]


def compare(model):
    """The exit code of a plan of a model with its reference."""
    spec = ROOT / "build" / "planted.yaml"
    spec.write_text(SPECS.get(model, "batch: {micro: 2}\n"))
    path = ROOT / "test" / "Inputs" / "references" / model / "model.onnx"
    return subprocess.run([str(XLC), "plan", str(path), "--spec", str(spec)], capture_output=True, check=False).returncode


def plant(name):
    """A line for the fault: found, by which models; or why not."""
    file, old, new = FAULTS[name]
    path = ROOT / file
    text = path.read_text()
    if text.count(old) < 1:
        return f"MISSED {name}: {file} does not have the text any more"
    try:
        path.write_text(text.replace(old, new, 1))
        if problem := build():
            return f"MISSED {name}: it does not build\n{problem}"
        codes = {model: compare(model) for model in MODELS}
    finally:
        path.write_text(text)
    found = [model for model, code in codes.items() if code == 4]
    others = [f"{model} {code}" for model, code in codes.items() if code not in (0, 4)]
    return (f"found  {name}: {', '.join(found)}" if found else f"MISSED {name}") + (f"; other exit codes: {', '.join(others)}" if others else "")


def main():
    wrong = [model for model in MODELS if compare(model) != 0]
    if wrong:
        print(f"not as PyTorch without a fault: {', '.join(wrong)}")
        return 1
    names = sys.argv[1:] or list(FAULTS)
    lines = []
    for name in names:
        lines.append(plant(name))
        print(lines[-1], flush=True)
    build()
    missed = sum(line.startswith("MISSED") for line in lines)
    print(f"{len(lines) - missed} found, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
