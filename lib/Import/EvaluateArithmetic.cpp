// Evaluation rules for arithmetic: element by element, and along dimensions.
//
// Every rule is an instance of a few shapes of loop over a functor; integers wrap, floats are
// rounded to the type of the tensor.
#include "Evaluate.h"

#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;
using namespace xlc::onnx;

bool xlc::onnx::produceRounded(Evaluation &e, ConstantTensor result) {
  if (result.type == ElementType::Float)
    for (double &value : result.floats)
      value = (float)value;
  if (result.type == ElementType::Int32)
    for (int64_t &value : result.ints)
      value = (int32_t)value;
  return e.produce(std::move(result));
}

namespace {

template <typename F> bool unary(Evaluation &e, F function) {
  ConstantTensor result = *e.inputs[0];
  if (!isFloat(result.type))
    return e.fail("needs a float input");
  for (double &value : result.floats)
    value = function(value);
  return produceRounded(e, std::move(result));
}

/// Applies `function(a, b)` to broadcast operands; the result's type is `type`.
template <typename From, typename To, typename F>
bool zip(Evaluation &e, const ConstantTensor &a, const ConstantTensor &b, ElementType type, F function) {
  Shape shape, stored;
  if (a.type != b.type)
    return e.fail("has inputs that differ in element type");
  if (!broadcastShapes(a.shape, b.shape, shape) || !broadcastShapes(a.stored, b.stored, stored))
    return e.fail("has inputs whose shapes do not broadcast");
  ConstantTensor result(type, shape, stored);
  ConstantTensor wideA = a.broadcastTo(shape), wideB = b.broadcastTo(shape);
  const auto &x = wideA.data<From>(), &y = wideB.data<From>();
  auto &z = result.data<To>();
  size_t i = 0;
  walk(stored, {getStrides(wideA.stored), getStrides(wideB.stored)},
       [&](ArrayRef<int64_t> offset) { z[i++] = function(x[offset[0]], y[offset[1]]); });
  return produceRounded(e, std::move(result));
}

/// Arithmetic: one functor for integers, one for floats.
template <typename I, typename D> bool arithmetic(Evaluation &e, I ofInts, D ofFloats) {
  const ConstantTensor &a = *e.inputs[0], &b = *e.inputs[1];
  return isFloat(a.type) ? zip<double, double>(e, a, b, a.type, ofFloats)
                         : zip<int64_t, int64_t>(e, a, b, a.type, ofInts);
}

template <typename F> bool compare(Evaluation &e, F function) {
  const ConstantTensor &a = *e.inputs[0], &b = *e.inputs[1];
  return isFloat(a.type) ? zip<double, int64_t>(e, a, b, ElementType::Bool, function)
                         : zip<int64_t, int64_t>(e, a, b, ElementType::Bool, function);
}

template <typename F> bool logical(Evaluation &e, F function) {
  const ConstantTensor &a = *e.inputs[0], &b = *e.inputs[1];
  if (a.type != ElementType::Bool || b.type != ElementType::Bool)
    return e.fail("needs boolean inputs");
  return zip<int64_t, int64_t>(e, a, b, ElementType::Bool, function);
}

/// Max and Min take any number of inputs.
template <typename F> bool variadic(Evaluation &e, F function) {
  ConstantTensor result = *e.inputs[0];
  for (size_t i = 1; i < e.inputs.size(); ++i) {
    e.outputs.clear();
    const ConstantTensor a = result, &b = *e.inputs[i];
    bool ok = isFloat(a.type) ? zip<double, double>(e, a, b, a.type, function)
                              : zip<int64_t, int64_t>(e, a, b, a.type, function);
    if (!ok)
      return false;
    result = e.outputs.front();
  }
  e.outputs.assign(1, result);
  return true;
}

/// Combines elements along the axes; `function(sum, element)`, `finish(sum, number of elements)`.
template <typename F, typename G> bool reduce(Evaluation &e, double start, F function, G finish) {
  const ConstantTensor from = e.inputs[0]->materialized();
  int64_t rank = (int64_t)from.shape.size();
  Shape axes = e.getInts(1, "axes").value_or(Shape());
  if (std::string problem = normalizeAxes(axes, rank); !problem.empty())
    return e.fail(problem);
  if (axes.empty() && !getInt(e.node, "noop_with_empty_axes", 0))
    for (int64_t d = 0; d < rank; ++d)
      axes.push_back(d);
  bool keeps = getInt(e.node, "keepdims", 1);
  Shape kept = from.shape, shape;
  for (int64_t d = 0; d < rank; ++d) {
    bool isReduced = llvm::is_contained(axes, d);
    kept[d] = isReduced ? 1 : kept[d];
    if (!isReduced || keeps)
      shape.push_back(kept[d]);
  }
  std::vector<double> sums(countElements(kept), start);
  size_t i = 0;
  walk(from.shape, {getStrides(kept)},
       [&](ArrayRef<int64_t> offset) { sums[offset[0]] = function(sums[offset[0]], from.asDouble(i++)); });
  ConstantTensor result(from.type, shape);
  double combined = sums.empty() ? 0 : (double)from.numStored() / (double)sums.size();
  if (from.numStored() == 0 && !sums.empty() && !std::isfinite(finish(start, combined)))
    return e.fail("reduces a dimension without elements, for which a mean or an extremum is not defined");
  for (size_t k = 0; k < sums.size(); ++k)
    result.set(k, finish(sums[k], combined));
  return e.produce(std::move(result));
}

double keepSum(double sum, double) { return sum; }
int64_t wrappingAdd(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
int64_t wrappingSub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
int64_t wrappingMul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

bool dividesByZero(const ConstantTensor &b) { return !isFloat(b.type) && llvm::is_contained(b.ints, 0); }

int64_t divide(int64_t a, int64_t b) { return b == -1 ? wrappingSub(0, a) : a / b; }

/// ONNX's Mod: the sign of the divisor, or of the dividend with fmod = 1.
int64_t modulo(int64_t a, int64_t b) {
  int64_t rest = b == -1 ? 0 : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

} // namespace

// One line per operator.
bool xlc::onnx::evaluateSqrt(Evaluation &e) {
  return unary(e, [](double x) { return std::sqrt(x); });
}
bool xlc::onnx::evaluateExp(Evaluation &e) {
  return unary(e, [](double x) { return std::exp(x); });
}
bool xlc::onnx::evaluateLog(Evaluation &e) {
  return unary(e, [](double x) { return std::log(x); });
}
bool xlc::onnx::evaluateTanh(Evaluation &e) {
  return unary(e, [](double x) { return std::tanh(x); });
}
bool xlc::onnx::evaluateErf(Evaluation &e) {
  return unary(e, [](double x) { return std::erf(x); });
}
bool xlc::onnx::evaluateSin(Evaluation &e) {
  return unary(e, [](double x) { return std::sin(x); });
}
bool xlc::onnx::evaluateCos(Evaluation &e) {
  return unary(e, [](double x) { return std::cos(x); });
}
bool xlc::onnx::evaluateReciprocal(Evaluation &e) {
  return unary(e, [](double x) { return 1 / x; });
}
bool xlc::onnx::evaluateFloor(Evaluation &e) {
  return unary(e, [](double x) { return std::floor(x); });
}
bool xlc::onnx::evaluateCeil(Evaluation &e) {
  return unary(e, [](double x) { return std::ceil(x); });
}

bool xlc::onnx::evaluateAdd(Evaluation &e) { return arithmetic(e, wrappingAdd, std::plus<double>()); }
bool xlc::onnx::evaluateSub(Evaluation &e) { return arithmetic(e, wrappingSub, std::minus<double>()); }
bool xlc::onnx::evaluateMul(Evaluation &e) { return arithmetic(e, wrappingMul, std::multiplies<double>()); }
bool xlc::onnx::evaluateDiv(Evaluation &e) {
  return dividesByZero(*e.inputs[1]) ? e.fail("divides by zero") : arithmetic(e, divide, std::divides<double>());
}
bool xlc::onnx::evaluateMod(Evaluation &e) {
  bool keepsSign = getInt(e.node, "fmod", 0);
  if (isFloat(e.inputs[0]->type) && !keepsSign)
    return e.fail("divides floats, which requires fmod = 1");
  if (dividesByZero(*e.inputs[1]))
    return e.fail("divides by zero");
  auto fmod = [](double a, double b) { return std::fmod(a, b); };
  return keepsSign ? arithmetic(
                         e, [](int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }, fmod)
                   : arithmetic(e, modulo, fmod);
}
bool xlc::onnx::evaluatePow(Evaluation &e) {
  ConstantTensor exponent = *e.inputs[1];
  if (exponent.type != e.inputs[0]->type) { // ONNX lets them differ; the base decides
    exponent = ConstantTensor(e.inputs[0]->type, exponent.shape, exponent.stored);
    for (size_t i = 0; i < exponent.numStored(); ++i)
      exponent.set(i, e.inputs[1]->asDouble(i));
  }
  e.inputs[1] = &exponent;
  return arithmetic(
      e, [](int64_t a, int64_t b) { return (int64_t)std::clamp(std::pow((double)a, (double)b), -9e18, 9e18); },
      [](double a, double b) { return std::pow(a, b); });
}
bool xlc::onnx::evaluateMax(Evaluation &e) {
  return variadic(e, [](auto a, auto b) { return a < b ? b : a; });
}
bool xlc::onnx::evaluateMin(Evaluation &e) {
  return variadic(e, [](auto a, auto b) { return b < a ? b : a; });
}

bool xlc::onnx::evaluateEqual(Evaluation &e) {
  return compare(e, [](auto a, auto b) { return a == b; });
}
bool xlc::onnx::evaluateLess(Evaluation &e) {
  return compare(e, [](auto a, auto b) { return a < b; });
}
bool xlc::onnx::evaluateLessOrEqual(Evaluation &e) {
  return compare(e, [](auto a, auto b) { return a <= b; });
}
bool xlc::onnx::evaluateGreater(Evaluation &e) {
  return compare(e, [](auto a, auto b) { return a > b; });
}
bool xlc::onnx::evaluateGreaterOrEqual(Evaluation &e) {
  return compare(e, [](auto a, auto b) { return a >= b; });
}
bool xlc::onnx::evaluateAnd(Evaluation &e) { return logical(e, std::bit_and<int64_t>()); }
bool xlc::onnx::evaluateOr(Evaluation &e) { return logical(e, std::bit_or<int64_t>()); }
bool xlc::onnx::evaluateXor(Evaluation &e) { return logical(e, std::bit_xor<int64_t>()); }

/// Integers bit by bit.
template <typename F> static bool bitwise(Evaluation &e, F function) {
  ElementType type = e.inputs[0]->type;
  return type != ElementType::Int32 && type != ElementType::Int64
             ? e.fail("needs int32 or int64 inputs")
             : zip<int64_t, int64_t>(e, *e.inputs[0], *e.inputs.back(), type, function);
}
bool xlc::onnx::evaluateBitwiseAnd(Evaluation &e) { return bitwise(e, std::bit_and<int64_t>()); }
bool xlc::onnx::evaluateBitwiseOr(Evaluation &e) { return bitwise(e, std::bit_or<int64_t>()); }
bool xlc::onnx::evaluateBitwiseXor(Evaluation &e) { return bitwise(e, std::bit_xor<int64_t>()); }
bool xlc::onnx::evaluateBitwiseNot(Evaluation &e) {
  return bitwise(e, [](int64_t a, int64_t) { return ~a; });
}

bool xlc::onnx::evaluateReduceSum(Evaluation &e) { return reduce(e, 0, std::plus<double>(), keepSum); }
bool xlc::onnx::evaluateReduceProd(Evaluation &e) { return reduce(e, 1, std::multiplies<double>(), keepSum); }
bool xlc::onnx::evaluateReduceMax(Evaluation &e) {
  return reduce(e, -HUGE_VAL, [](double a, double b) { return std::max(a, b); }, keepSum);
}
bool xlc::onnx::evaluateReduceMin(Evaluation &e) {
  return reduce(e, HUGE_VAL, [](double a, double b) { return std::min(a, b); }, keepSum);
}
bool xlc::onnx::evaluateReduceMean(Evaluation &e) {
  return reduce(e, 0, std::plus<double>(), [](double sum, double count) { return sum / count; });
}

template <typename F> static bool numeric(Evaluation &e, F function) {
  ConstantTensor result = *e.inputs[0];
  for (double &value : result.floats)
    value = function(value);
  for (int64_t &value : result.ints)
    value = function(value);
  return produceRounded(e, std::move(result));
}
bool xlc::onnx::evaluateNeg(Evaluation &e) {
  return numeric(e, [](auto x) { return decltype(x)(std::is_same_v<decltype(x), double> ? -x : wrappingSub(0, x)); });
}
bool xlc::onnx::evaluateAbs(Evaluation &e) {
  return numeric(
      e, [](auto x) { return x < 0 ? decltype(x)(std::is_same_v<decltype(x), double> ? -x : wrappingSub(0, x)) : x; });
}
bool xlc::onnx::evaluateSign(Evaluation &e) {
  return numeric(e, [](auto x) { return decltype(x)((x > 0) - (x < 0)); });
}

bool xlc::onnx::evaluateCumSum(Evaluation &e) {
  ConstantTensor result = e.inputs[0]->materialized();
  bool isReverse = getInt(e.node, "reverse", 0), isExclusive = getInt(e.node, "exclusive", 0);
  if (!e.inputs[1]->isSplat())
    return e.fail("needs one axis");
  int64_t axis = (int64_t)e.inputs[1]->asDouble(0);
  if (std::string problem = normalizeAxis(axis, (int64_t)result.shape.size()); !problem.empty())
    return e.fail(problem);
  size_t inner = countElements(ArrayRef(result.shape).drop_front(axis + 1)), size = result.shape[axis];
  const ConstantTensor from = result;
  for (size_t n = 0; n < result.numStored(); ++n) {
    size_t i = isReverse ? result.numStored() - 1 - n : n, place = (i / inner) % size;
    bool isFirst = place == (isReverse ? size - 1 : 0);
    size_t before = isReverse ? i + inner : i - inner;
    if (isFloat(result.type))
      result.floats[i] = (isFirst ? 0 : result.floats[before] + (isExclusive ? from.floats[before] : 0)) +
                         (isExclusive ? 0 : from.floats[i]);
    else
      result.ints[i] = wrappingAdd(isFirst       ? 0
                                   : isExclusive ? wrappingAdd(result.ints[before], from.ints[before])
                                                 : result.ints[before],
                                   isExclusive ? 0 : from.ints[i]);
  }
  result.compress();
  return produceRounded(e, std::move(result));
}
