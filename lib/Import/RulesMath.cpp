// Import rules for functions of one or two numbers that are not in the graph dialect: each is a formula of ops of the
// dialect, written so that it is accurate near zero and has a gradient there.
#include "ReadInputs.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

bool xlc::onnx::importCeil(NodeImport &n) {
  return produceFormula(n, [](Formula f, Value x) { return f.neg(f.floor(f.neg(x))); });
}

/// To the nearest integer; halves go to the even one.
bool xlc::onnx::importRound(NodeImport &n) {
  return produceFormula(n, [](Formula f, Value x) {
    Value low = f.floor(x), rest = f.sub(x, low);
    Value isOdd = f.isEqual(f.sub(low, f.mul(f.floor(f.mul(low, 0.5)), 2)), 1);
    Value goesUp = f.either(f.isAbove(rest, 0.5), f.both(f.isEqual(rest, 0.5), isOdd));
    return f.select(goesUp, f.add(low, 1), low);
  });
}

bool xlc::onnx::importTan(NodeImport &n) {
  return produceFormula(n,
                        [](Formula f, Value x) { return f.div(f.unary<graph::SinOp>(x), f.unary<graph::CosOp>(x)); });
}

/// asin x = atan(x / sqrt((1 - x) (1 + x))).
static Value arcSine(Formula f, Value x) {
  Value one = f.number(1, x);
  return f.unary<graph::AtanOp>(f.div(x, f.sqrt(f.mul(f.sub(one, x), f.add(one, x)))));
}

bool xlc::onnx::importAsin(NodeImport &n) {
  return produceFormula(n, [](Formula f, Value x) { return arcSine(f, x); });
}

bool xlc::onnx::importAcos(NodeImport &n) {
  return produceFormula(n, [](Formula f, Value x) { return f.sub(f.number(1.5707963267948966, x), arcSine(f, x)); });
}

/// -1 or 1; unlike sign it is never 0, so that s * x has the gradient s at 0 too.
static Value direction(Formula f, Value x) { return f.select(f.isLess(x, 0), f.number(-1, x), 1); }

/// sinh |x| = -m (2 + m) / (2 (1 + m)) with m = e^-|x| - 1.
bool xlc::onnx::importSinh(NodeImport &n) {
  return produceFormula(n, [](Formula f, Value x) {
    Value sign = direction(f, x), m = f.expMinusOne(f.neg(f.mul(sign, x)));
    Value half = f.div(f.mul(m, f.add(m, 2)), f.mul(f.add(m, 1), -2));
    return f.mul(sign, half);
  });
}

bool xlc::onnx::importCosh(NodeImport &n) {
  return produceFormula(n, [](Formula f, Value x) { return f.mul(f.add(f.exp(x), f.exp(f.neg(x))), 0.5); });
}

bool xlc::onnx::importAsinh(NodeImport &n) {
  return produceFormula(n, [](Formula f, Value x) {
    Value sign = direction(f, x), size = f.mul(sign, x);
    return f.mul(sign, f.log(f.add(size, f.sqrt(f.add(f.mul(x, x), 1)))));
  });
}

bool xlc::onnx::importAcosh(NodeImport &n) {
  return produceFormula(n, [](Formula f, Value x) { return f.log(f.add(x, f.sqrt(f.mul(f.sub(x, 1), f.add(x, 1))))); });
}

bool xlc::onnx::importAtanh(NodeImport &n) {
  return produceFormula(
      n, [](Formula f, Value x) { return f.mul(f.log(f.div(f.add(x, 1), f.sub(f.number(1, x), x))), 0.5); });
}

bool xlc::onnx::importIsInf(NodeImport &n) {
  Value x = readFloats(n, 0);
  if (!x)
    return false;
  Formula f{n};
  bool low = getInt(n.node, "detect_negative", 1), high = getInt(n.node, "detect_positive", 1);
  if (low && high)
    return n.produce(f.isEqual(f.abs(x), INFINITY));
  Value is = f.isEqual(x, low ? -INFINITY : INFINITY);
  return n.produce(low || high ? is : f.both(is, f.unary<graph::NotOp>(is)));
}

/// The rest has the sign of the divisor, or of the dividend with fmod = 1. For f32 the quotient is taken in f64, where
/// its whole part is exact up to 2^28.
bool xlc::onnx::importMod(NodeImport &n) {
  bool keepsSign = getInt(n.node, "fmod", 0);
  Value a, b;
  if (!n.broadcastPair(0, 1, a, b))
    return false;
  Formula f{n};
  if (f.isFloat(a) && !keepsSign)
    return n.fail("divides floats, which requires fmod = 1");
  if (f.isFloat(a)) {
    Type element = graph::typeOf(a).getElementType(), wide = n.builder.getF64Type();
    Value x = f.convert(a, wide), y = f.convert(b, wide), quotient = f.div(x, y);
    Value whole = f.floor(f.abs(quotient));
    whole = f.mul(whole, f.unary<graph::SignOp>(quotient));
    return n.produce(f.convert(f.sub(x, f.mul(whole, y)), element));
  }
  Value rest = f.sub(a, f.mul(f.div(a, b), b));
  if (keepsSign)
    return n.produce(rest);
  Value differ = f.compare(graph::Predicate::ne, f.isLess(rest, 0), f.isLess(b, 0));
  Value isRest = f.compare(graph::Predicate::ne, rest, f.number(0, rest));
  return n.produce(f.select(f.both(differ, isRest), f.add(rest, b), rest));
}

/// The mean of any number of tensors.
bool xlc::onnx::importMean(NodeImport &n) {
  if (!readFloats(n, 0) || !importVariadic<graph::AddOp>(n))
    return false;
  n.outputs.back() = Formula{n}.scale(n.outputs.back(), 1, (int64_t)n.numInputs());
  return true;
}
