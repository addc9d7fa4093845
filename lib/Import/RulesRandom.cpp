// Import rules of operators that draw random numbers in each step. docs/rationale/Random.md defines the numbers.
#include "Rules.h"
#include "Sites.h"

#include "xlc/Dialect/Graph/Draws.h"
#include "xlc/Runtime/Dropout.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;
using graph::Formula;

namespace {

Value asDrawn(Formula &, Value index) { return index; }

/// A draw of `n`, as 32 bits; null (and a problem) where it cannot be had.
Value drawBits(NodeImport &n, Value like, ArrayRef<int64_t> shape, std::optional<double> ratio = std::nullopt) {
  return n.sites->draw(n, n.sites->add(n, shape, ratio), like, shape, asDrawn);
}

std::string printShortest(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

/// The upper 32 - `dropped` bits of a word, as an integer that is not negative. Words are read as signed ones.
Value upperBits(Formula &f, Value word, int dropped) {
  double divisor = std::exp2(dropped), largest = std::exp2(32 - dropped) - 1;
  Value mirrored = f.sub(f.number(-1, word), word); // of a negative word: not negative, and as far from the end
  Value below = f.div(word, divisor), above = f.sub(f.number(largest, word), f.div(mirrored, divisor));
  return f.select(f.isLess(word, 0), above, below);
}

/// In [0, 1), in steps of 2^-24.
Value uniform(Formula &f, Value word) { return f.mul(f.convert(upperBits(f, word, 8), f.b.getF32Type()), 0x1p-24); }

/// Whether the node drops at all, from what the file says of its mode, or of that of other nodes where it has a ratio
/// alone; none, and a problem, where that is not known.
std::optional<bool> isDropping(NodeImport &n, double ratio) {
  const ConstantTensor *training = n.constant(2);
  if (n.has(2) && !(training && training->isSplat()))
    return n.fail("needs a training mode that is known when the model is compiled"), std::nullopt;
  bool isOn = n.has(2) ? !training->ints.empty() && training->ints[0] != 0 : n.has(1) && n.sites->isTraining();
  return isOn && ratio != 0;
}

/// Shape and element type of a node that draws numbers: its attributes, or those of input 0.
bool findDrawnType(NodeImport &n, Shape &shape) {
  int64_t type = getInt(n.node, "dtype", (int64_t)ElementType::Float);
  bool isFloatType = isHalf((int)type) || type == (int64_t)ElementType::Float || type == (int64_t)ElementType::Double;
  if (!isFloatType)
    return n.fail("draws numbers of element type " + Twine(type) + "; only floats are supported");
  shape = n.numInputs() ? n.shape(0) : getInts(n.node, "shape").value_or(Shape());
  return true;
}

/// The value whose rows those of the numbers are; null where its elements are known.
Value likeInput(NodeImport &n) { return n.numInputs() && !n.constant(0) ? n.value(0) : Value(); }

} // namespace

bool xlc::onnx::importDropout(NodeImport &n) {
  const ConstantTensor *given = n.constant(1);
  if (n.has(1) && !(given && given->isSplat()))
    return n.fail("needs a ratio that is known when the model is compiled");
  auto ratio = (float)(given ? given->asDouble(0) : 0.5);
  if (!(ratio >= 0 && ratio < 1))
    return n.fail("drops elements with probability " + printShortest(ratio) + ", which must be at least 0 and below 1");
  std::optional<bool> drops = isDropping(n, ratio);
  Value x = n.value(0);
  if (!drops || !x)
    return false;
  Shape shape = n.shape(0);
  Value kept;
  if (*drops && n.sites->dropsNothing()) {
    n.sites->add(n, shape, ratio);
  } else if (*drops) {
    Value word = drawBits(n, likeInput(n), shape, ratio);
    if (!word)
      return false;
    if (runtime::firstKeptWord(ratio) > 0)
      kept = graph::isKept(n, word, ratio);
  }
  Value all = kept ? kept : n.broadcast(n.scalar(1, n.builder.getI1Type()), shape);
  n.produce(kept ? n.select(kept, graph::scaleKept(n, x, ratio), 0.0) : x);
  return n.node.outputs.size() < 2 || n.produce(all);
}

bool xlc::onnx::importRandomUniform(NodeImport &n) {
  Shape shape;
  if (!findDrawnType(n, shape))
    return false;
  double low = getFloat(n.node, "low", 0), high = getFloat(n.node, "high", 1);
  Value word = drawBits(n, likeInput(n), shape);
  return word && n.produce(n.add(n.mul(uniform(n, word), high - low), low));
}

bool xlc::onnx::importBernoulli(NodeImport &n) {
  Value p = n.value(0);
  if (!p)
    return false;
  int64_t type = getInt(n.node, "dtype", 0);
  Type element = type ? convertType((ElementType)type, n.builder.getContext()) : n.elementType(0);
  if (!element)
    return n.fail("draws numbers of element type " + Twine(type) + ", which is not supported");
  Value word = drawBits(n, likeInput(n), n.shape(0));
  if (!word)
    return false;
  return n.produce(n.convert(n.isLess(uniform(n, word), p), element));
}

/// Two neighbours, numbers 2 i and 2 i + 1, share a radius and an angle (Box and Muller).
bool xlc::onnx::importRandomNormal(NodeImport &n) {
  Shape shape;
  if (!findDrawnType(n, shape))
    return false;
  int64_t site = n.sites->add(n, shape);
  Value like = likeInput(n), isOdd;
  auto even = [&](Formula &f, Value index) {
    Value half = f.div(index, 2.0), first = f.mul(half, 2.0);
    isOdd = f.compare(graph::Predicate::ne, index, first);
    return first;
  };
  Value first = n.sites->draw(n, site, like, shape, even);
  Value second =
      n.sites->draw(n, site, like, shape, [&](Formula &f, Value index) { return f.add(even(f, index), 1.0); });
  if (!first || !second)
    return false;
  Type f32 = n.builder.getF32Type();
  auto fraction = [&](Value word) { return n.convert(upperBits(n, word, 1), f32); };
  Value inside = n.mul(n.add(fraction(first), 0.5), 0x1p-31);
  Value radius = n.sqrt(n.mul(n.log(inside), -2.0));
  Value angle = n.mul(fraction(second), 2 * std::numbers::pi * 0x1p-31);
  Value direction = n.select(isOdd, n.unary<graph::SinOp>(angle), n.unary<graph::CosOp>(angle));
  double mean = getFloat(n.node, "mean", 0), scale = getFloat(n.node, "scale", 1);
  return n.produce(n.add(n.mul(n.mul(radius, direction), scale), mean));
}
