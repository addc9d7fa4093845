// Import rules for activations. A function that applies to a part of its domain only (e^x - 1 for x <= 0) gets a
// clamped operand: the branch that a select discards must not bring an infinity into the gradient. The slope at the
// kink itself is PyTorch's: that of the part below.
#include "ReadInputs.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

/// x where x > 0, else scale * (e^(x / width) - 1).
static bool produceExponential(NodeImport &n, double width, double scale, double whole) {
  return produceFormula(n, [&](Formula f, Value x) {
    Value low = f.select(f.isAbove(x, 0), f.number(0, x), x); // with the slope of the curve at 0
    Value curve = f.mul(f.expMinusOne(width == 1 ? low : f.div(low, width)), scale);
    Value y = f.select(f.isAbove(x, 0), x, curve);
    return whole == 1 ? y : f.mul(y, whole);
  });
}

bool xlc::onnx::importElu(NodeImport &n) { return produceExponential(n, 1, getFloat(n.node, "alpha", 1), 1); }

bool xlc::onnx::importCelu(NodeImport &n) {
  double alpha = getFloat(n.node, "alpha", 1);
  return alpha != 0 ? produceExponential(n, alpha, alpha, 1) : n.fail("divides by alpha = 0");
}

bool xlc::onnx::importSelu(NodeImport &n) {
  return produceExponential(n, 1, getFloat(n.node, "alpha", 1.67326319217681884765625),
                            getFloat(n.node, "gamma", 1.05070102214813232421875));
}

static Value hardSigmoid(Formula f, Value x, double alpha, double beta) {
  return f.min(f.max(f.add(f.mul(x, alpha), beta), 0), 1);
}

bool xlc::onnx::importHardSigmoid(NodeImport &n) {
  return produceFormula(n, [&](Formula f, Value x) {
    return hardSigmoid(f, x, getFloat(n.node, "alpha", 0.2), getFloat(n.node, "beta", 0.5));
  });
}

bool xlc::onnx::importHardSwish(NodeImport &n) {
  return produceFormula(n, [](Formula f, Value x) { return f.mul(x, hardSigmoid(f, x, 1.0 / 6, 0.5)); });
}

bool xlc::onnx::importMish(NodeImport &n) {
  return produceFormula(n, [](Formula f, Value x) { return f.mul(x, f.tanh(f.softplus(x))); });
}

bool xlc::onnx::importSoftplus(NodeImport &n) {
  return produceFormula(n, [](Formula f, Value x) { return f.softplus(x); });
}

bool xlc::onnx::importSoftsign(NodeImport &n) {
  return produceFormula(n, [](Formula f, Value x) { return f.div(x, f.add(f.abs(x), 1)); });
}

bool xlc::onnx::importThresholdedRelu(NodeImport &n) {
  return produceFormula(n,
                        [&](Formula f, Value x) { return f.select(f.isAbove(x, getFloat(n.node, "alpha", 1)), x, 0); });
}

bool xlc::onnx::importShrink(NodeImport &n) {
  return produceFormula(n, [&](Formula f, Value x) {
    double edge = getFloat(n.node, "lambd", 0.5), bias = getFloat(n.node, "bias", 0);
    Value high = f.select(f.isAbove(x, edge), f.sub(x, bias), 0);
    return f.select(f.isLess(x, -edge), f.add(x, bias), high);
  });
}

/// The slope is repeated to the input's shape, never the other way round.
bool xlc::onnx::importPRelu(NodeImport &n) {
  Value x = readFloats(n, 0);
  Shape common, shape = n.shape(0);
  if (!x || n.elementType(1) != n.elementType(0) || !broadcastShapes(n.shape(1), shape, common) || common != shape)
    return n.fail("needs a float input, and a slope that broadcasts to its shape");
  Formula f{n};
  Value slope = n.broadcast(1, shape);
  return slope && n.produce(f.select(f.isAbove(x, 0), x, f.mul(x, slope)));
}

/// 1 at the first largest element along the axis, 0 elsewhere.
bool xlc::onnx::importHardmax(NodeImport &n) {
  int64_t axis;
  Value x = readFloats(n, 0);
  if (!x || !readAxis(n, -1, axis))
    return false;
  Formula f{n};
  ArrayRef<int64_t> shape = graph::typeOf(x).getShape();
  Value places = f.iota(shape, axis), largest = f.reduceAlong(graph::Reduction::max, x, axis);
  Value first =
      f.reduceAlong(graph::Reduction::min, f.select(f.isEqual(x, largest), places, (double)shape[axis]), axis);
  return n.produce(f.convert(f.isEqual(places, first), graph::typeOf(x).getElementType()));
}
