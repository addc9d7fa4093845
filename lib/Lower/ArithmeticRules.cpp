// Element rules of element-wise ops. No fast-math flags are used: a lane of a vector, the masked end of a row and a
// scalar give the same bits.
#include "ElementRules.h"
#include "Mapping.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

using Elements = SmallVector<Value, 3>;

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

/// `number` as a value of `like`'s type.
static Value numberLike(KernelEmitter &emitter, Value like, double number) {
  Value scalar = emitter.constant(getElementTypeOrSelf(like.getType()), number);
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? emitter.splat(scalar, vector.getNumElements()) : scalar;
}

template <typename FloatOp>
static Value unary(KernelEmitter &emitter, Operation *op, ArrayRef<Index> indices, const Lanes &lanes) {
  return FloatOp::create(emitter.builder(), emitter.loc(), emitter.evaluate(op->getOperand(0), indices, lanes));
}

template <typename FloatOp, typename IntOp> static Value createBinary(KernelEmitter &emitter, Value a, Value b) {
  if (isFloat(a))
    return FloatOp::create(emitter.builder(), emitter.loc(), a, b);
  return IntOp::create(emitter.builder(), emitter.loc(), a, b);
}

template <typename FloatOp, typename IntOp>
static Value binary(KernelEmitter &emitter, Operation *op, ArrayRef<Index> indices, const Lanes &lanes) {
  Elements x = emitter.evaluateOperands(op, indices, lanes);
  return createBinary<FloatOp, IntOp>(emitter, x[0], x[1]);
}

namespace xlc::lower {

#define XLC_RULE(NAME) Value NAME(KernelEmitter &e, Operation *op, ArrayRef<Index> indices, const Lanes &lanes)
XLC_RULE(expElement) { return unary<math::ExpOp>(e, op, indices, lanes); }
XLC_RULE(logElement) { return unary<math::LogOp>(e, op, indices, lanes); }
XLC_RULE(sqrtElement) { return unary<math::SqrtOp>(e, op, indices, lanes); }
XLC_RULE(tanhElement) { return unary<math::TanhOp>(e, op, indices, lanes); }
XLC_RULE(erfElement) { return unary<math::ErfOp>(e, op, indices, lanes); }
XLC_RULE(sinElement) { return unary<math::SinOp>(e, op, indices, lanes); }
XLC_RULE(cosElement) { return unary<math::CosOp>(e, op, indices, lanes); }
XLC_RULE(atanElement) { return unary<math::AtanOp>(e, op, indices, lanes); }
XLC_RULE(floorElement) { return unary<math::FloorOp>(e, op, indices, lanes); }
XLC_RULE(addElement) { return binary<arith::AddFOp, arith::AddIOp>(e, op, indices, lanes); }
XLC_RULE(subElement) { return binary<arith::SubFOp, arith::SubIOp>(e, op, indices, lanes); }
XLC_RULE(mulElement) { return binary<arith::MulFOp, arith::MulIOp>(e, op, indices, lanes); }
XLC_RULE(divElement) { return binary<arith::DivFOp, arith::DivSIOp>(e, op, indices, lanes); }
XLC_RULE(maxElement) { return binary<arith::MaximumFOp, arith::MaxSIOp>(e, op, indices, lanes); }
XLC_RULE(minElement) { return binary<arith::MinimumFOp, arith::MinSIOp>(e, op, indices, lanes); }

XLC_RULE(andElement) {
  Elements x = e.evaluateOperands(op, indices, lanes);
  return arith::AndIOp::create(e.builder(), e.loc(), x[0], x[1]);
}

XLC_RULE(orElement) {
  Elements x = e.evaluateOperands(op, indices, lanes);
  return arith::OrIOp::create(e.builder(), e.loc(), x[0], x[1]);
}

XLC_RULE(notElement) {
  Value x = e.evaluate(op->getOperand(0), indices, lanes);
  return arith::XOrIOp::create(e.builder(), e.loc(), x, numberLike(e, x, 1));
}

XLC_RULE(negElement) {
  Value x = e.evaluate(op->getOperand(0), indices, lanes);
  if (isFloat(x))
    return arith::NegFOp::create(e.builder(), e.loc(), x);
  return arith::SubIOp::create(e.builder(), e.loc(), numberLike(e, x, 0), x);
}

XLC_RULE(absElement) {
  Value x = e.evaluate(op->getOperand(0), indices, lanes);
  if (isFloat(x))
    return math::AbsFOp::create(e.builder(), e.loc(), x);
  return math::AbsIOp::create(e.builder(), e.loc(), x);
}

/// (x > 0) - (x < 0); a NaN gives 0, as in ONNX's reference.
XLC_RULE(signElement) {
  Value x = e.evaluate(op->getOperand(0), indices, lanes);
  Value zero = numberLike(e, x, 0), one = numberLike(e, x, 1), minusOne = numberLike(e, x, -1);
  auto choose = [&](arith::CmpFPredicate floats, arith::CmpIPredicate integers, Value yes, Value no) -> Value {
    Value test = isFloat(x) ? arith::CmpFOp::create(e.builder(), e.loc(), floats, x, zero).getResult()
                            : arith::CmpIOp::create(e.builder(), e.loc(), integers, x, zero).getResult();
    return arith::SelectOp::create(e.builder(), e.loc(), test, yes, no);
  };
  Value negative = choose(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, minusOne, zero);
  return choose(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt, one, negative);
}

XLC_RULE(isNanElement) {
  Value x = e.evaluate(op->getOperand(0), indices, lanes);
  return arith::CmpFOp::create(e.builder(), e.loc(), arith::CmpFPredicate::UNO, x, x);
}

XLC_RULE(castElement) {
  Type to = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  return convertElement(e, e.evaluate(op->getOperand(0), indices, lanes), to);
}

/// The exponent, if it is the same number everywhere.
static std::optional<double> findExponent(Value value) {
  while (value.getDefiningOp<graph::BroadcastOp>() || value.getDefiningOp<graph::ReshapeOp>())
    value = value.getDefiningOp()->getOperand(0);
  auto constant = value.getDefiningOp<graph::ConstantOp>();
  auto attribute = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!attribute || !attribute.isSplat())
    return std::nullopt;
  return attribute.getSplatValue<APFloat>().convertToDouble();
}

static bool isByProducts(std::optional<double> exponent) {
  return exponent && *exponent == std::trunc(*exponent) && std::abs(*exponent) <= 8 && *exponent != 0;
}

bool needsLibraryPower(graph::PowOp op) {
  std::optional<double> exponent = findExponent(op->getOperand(1));
  return exponent != 0.5 && !isByProducts(exponent);
}

/// x^3 and the like by products (bases may be negative), roots by sqrt, everything else by the C library.
XLC_RULE(powElement) {
  OpBuilder &b = e.builder();
  std::optional<double> exponent = findExponent(op->getOperand(1));
  if (exponent == 0.5)
    return math::SqrtOp::create(b, e.loc(), e.evaluate(op->getOperand(0), indices, lanes));
  if (isByProducts(exponent)) {
    Value x = e.evaluate(op->getOperand(0), indices, lanes), power = x;
    for (int i = 1; i < std::abs(*exponent); ++i)
      power = arith::MulFOp::create(b, e.loc(), power, x);
    return *exponent > 0 ? power : arith::DivFOp::create(b, e.loc(), numberLike(e, x, 1), power).getResult();
  }
  Elements x = e.evaluateOperands(op, indices, lanes);
  return math::PowFOp::create(b, e.loc(), x[0], x[1]);
}

/// Which lanes stand at `place`, one number for all of them: as 32 bits from the first lane, where positions have 64.
static Value findLanes(KernelEmitter &e, Index position, Value place, int64_t width) {
  OpBuilder &b = e.builder();
  Type word = b.getI32Type();
  position.stride = 0;
  Value distance = arith::SubIOp::create(b, e.loc(), convertElement(e, place, b.getI64Type()), e.scalarOf(position));
  Value isNear = arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::ult, distance, e.integer(width));
  Value lane = arith::SelectOp::create(b, e.loc(), isNear, arith::TruncIOp::create(b, e.loc(), word, distance),
                                       e.constant(word, -1));
  auto lanes = DenseElementsAttr::get(VectorType::get({width}, word),
                                      ArrayRef<int32_t>(llvm::to_vector(llvm::seq<int32_t>(width))));
  return arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::eq, e.splat(lane, width),
                               arith::ConstantOp::create(b, e.loc(), lanes));
}

/// A label's column, as losses look for it; null for any other comparison.
static Value compareToPosition(KernelEmitter &e, graph::CompareOp op, ArrayRef<Index> indices, const Lanes &lanes) {
  auto iota = op.getA().getDefiningOp<graph::IotaOp>();
  bool isOfIntegers = iota && isa<IntegerType>(getElementTypeOrSelf(iota.getType()));
  if (!isOfIntegers || op.getPredicate() != graph::Predicate::eq || indices[iota.getDimension()].stride != 1)
    return nullptr;
  Value place = e.evaluate(op.getB(), indices, lanes);
  return isa<VectorType>(place.getType()) ? nullptr : findLanes(e, indices[iota.getDimension()], place, lanes.width);
}

XLC_RULE(compareElement) {
  using FloatTest = arith::CmpFPredicate;
  using IntTest = arith::CmpIPredicate;
  constexpr FloatTest floats[] = {FloatTest::OEQ, FloatTest::UNE, FloatTest::OLT,
                                  FloatTest::OLE, FloatTest::OGT, FloatTest::OGE};
  constexpr IntTest integers[] = {IntTest::eq, IntTest::ne, IntTest::slt, IntTest::sle, IntTest::sgt, IntTest::sge};
  constexpr IntTest booleans[] = {IntTest::eq, IntTest::ne, IntTest::ult, IntTest::ule, IntTest::ugt, IntTest::uge};
  if (Value found = compareToPosition(e, cast<graph::CompareOp>(op), indices, lanes))
    return found;
  auto predicate = (unsigned)cast<graph::CompareOp>(op).getPredicate();
  Elements x = e.evaluateOperands(op, indices, lanes);
  if (isFloat(x[0]))
    return arith::CmpFOp::create(e.builder(), e.loc(), floats[predicate], x[0], x[1]);
  bool isBool = getElementTypeOrSelf(x[0].getType()).isInteger(1);
  return arith::CmpIOp::create(e.builder(), e.loc(), (isBool ? booleans : integers)[predicate], x[0], x[1]);
}

XLC_RULE(selectElement) {
  Elements x = e.evaluateOperands(op, indices, lanes);
  return arith::SelectOp::create(e.builder(), e.loc(), x[0], x[1], x[2]);
}
#undef XLC_RULE

/// A value of `like`'s shape.
static Type shapedLike(Value like, Type element) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}

static Value bitsOf(KernelEmitter &e, Value x) {
  return arith::BitcastOp::create(e.builder(), e.loc(), shapedLike(x, e.builder().getI32Type()), x);
}

static Value isNan(KernelEmitter &e, Value x) {
  return arith::CmpFOp::create(e.builder(), e.loc(), arith::CmpFPredicate::UNO, x, x);
}

/// Sixteen of 32 random bits, as Narrow.h has them.
static Value drawOf(KernelEmitter &e, Value bits, int64_t draw) {
  OpBuilder &b = e.builder();
  auto number = [&](double x) { return numberLike(e, bits, x); };
  auto low = [&](Value x) -> Value { return arith::AndIOp::create(b, e.loc(), x, number(0xffff)); };
  Value high = arith::ShRUIOp::create(b, e.loc(), bits, number(16));
  if (draw < 2)
    return draw == 0 ? low(bits) : high;
  Value both = low(arith::XOrIOp::create(b, e.loc(), bits, high));
  return arith::XOrIOp::create(b, e.loc(), both, number(0x8000));
}

/// As Narrow.h does it: a half is cut off in a float that is subnormal where the half is.
Value stochasticCastElement(KernelEmitter &e, Operation *op, ArrayRef<Index> indices, const Lanes &lanes) {
  auto cast = mlir::cast<graph::StochasticCastOp>(op);
  Elements operands = e.evaluateOperands(op, indices, lanes);
  OpBuilder &b = e.builder();
  Value x = operands[0], draw = drawOf(e, operands[1], cast.getDraw());
  auto number = [&](double x) { return numberLike(e, draw, x); };
  if (cast.getY().getType().getElementType().isBF16()) {
    Value sum = arith::AddIOp::create(b, e.loc(), bitsOf(e, x), draw);
    Value quiet = arith::OrIOp::create(b, e.loc(), bitsOf(e, x), number(0x400000));
    Value chosen = arith::SelectOp::create(b, e.loc(), isNan(e, x), quiet, sum);
    Value upper = arith::ShRUIOp::create(b, e.loc(), chosen, number(16));
    return arith::TruncIOp::create(b, e.loc(), shapedLike(x, b.getI16Type()), upper);
  }
  Value small = arith::MulFOp::create(b, e.loc(), x, numberLike(e, x, 0x1p-112));
  Value added = arith::ShRUIOp::create(b, e.loc(), draw, number(3));
  Value sum = arith::AddIOp::create(b, e.loc(), bitsOf(e, small), added);
  Value cut = arith::AndIOp::create(b, e.loc(), sum, number(-0x2000));
  Value large = arith::MulFOp::create(b, e.loc(), arith::BitcastOp::create(b, e.loc(), x.getType(), cut),
                                      numberLike(e, x, 0x1p112));
  return convertElement(e, arith::SelectOp::create(b, e.loc(), isNan(e, x), x, large), b.getF16Type());
}

/// A bf16 is the upper half of a float.
static Value widenBf16(KernelEmitter &e, Value value) {
  OpBuilder &b = e.builder();
  Value bits = arith::ExtUIOp::create(b, e.loc(), shapedLike(value, b.getI32Type()), value);
  bits = arith::ShLIOp::create(b, e.loc(), bits, numberLike(e, bits, 16));
  return arith::BitcastOp::create(b, e.loc(), shapedLike(value, b.getF32Type()), bits);
}

/// To nearest, ties to even: half of the last place less one, and its parity, carry into the upper half. Not the instruction
/// of CPUs, which takes subnormal numbers for zero.
static Value narrowToBf16(KernelEmitter &e, Value value) {
  if (Value rounded = e.mapping().frame().roundToBf16(e, value))
    return rounded;
  OpBuilder &b = e.builder();
  Value bits = bitsOf(e, value);
  auto number = [&](double x) { return numberLike(e, bits, x); };
  Value upper = arith::ShRUIOp::create(b, e.loc(), bits, number(16));
  Value parity = arith::AndIOp::create(b, e.loc(), upper, number(1));
  Value carried = arith::AddIOp::create(b, e.loc(), arith::AddIOp::create(b, e.loc(), bits, number(0x7fff)), parity);
  Value rounded = arith::ShRUIOp::create(b, e.loc(), carried, number(16));
  Value quiet = arith::OrIOp::create(b, e.loc(), upper, number(0x40));
  Value result = arith::SelectOp::create(b, e.loc(), isNan(e, value), quiet, rounded);
  return arith::TruncIOp::create(b, e.loc(), shapedLike(value, b.getI16Type()), result);
}

Value convertElement(KernelEmitter &e, Value value, Type to) {
  Type from = getElementTypeOrSelf(value.getType());
  bool isBf16 = from.isInteger(16); // no other element has such bits
  if (from == to || (isBf16 && to.isBF16()))
    return value;
  if (isBf16)
    return widenBf16(e, value);
  if (to.isBF16())
    return narrowToBf16(e, value);
  Type type = shapedLike(value, to);
  OpBuilder &b = e.builder();
  unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return toBits > fromBits ? arith::ExtFOp::create(b, e.loc(), type, value).getResult()
                             : arith::TruncFOp::create(b, e.loc(), type, value).getResult();
  if (to.isInteger(1)) {
    Value zero = numberLike(e, value, 0);
    if (isa<FloatType>(from))
      return arith::CmpFOp::create(b, e.loc(), arith::CmpFPredicate::UNE, value, zero);
    return arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::ne, value, zero);
  }
  if (isa<FloatType>(from))
    return arith::FPToSIOp::create(b, e.loc(), type, value);
  if (isa<FloatType>(to))
    return from.isInteger(1) ? arith::UIToFPOp::create(b, e.loc(), type, value).getResult()
                             : arith::SIToFPOp::create(b, e.loc(), type, value).getResult();
  if (from.isInteger(1))
    return arith::ExtUIOp::create(b, e.loc(), type, value);
  return toBits > fromBits ? arith::ExtSIOp::create(b, e.loc(), type, value).getResult()
                           : arith::TruncIOp::create(b, e.loc(), type, value).getResult();
}

Value combineElements(KernelEmitter &emitter, graph::Reduction kind, Value a, Value b) {
  switch (kind) {
  case graph::Reduction::sum:
    return createBinary<arith::AddFOp, arith::AddIOp>(emitter, a, b);
  case graph::Reduction::prod:
    return createBinary<arith::MulFOp, arith::MulIOp>(emitter, a, b);
  case graph::Reduction::max:
    return createBinary<arith::MaximumFOp, arith::MaxSIOp>(emitter, a, b);
  case graph::Reduction::min:
    return createBinary<arith::MinimumFOp, arith::MinSIOp>(emitter, a, b);
  }
  llvm_unreachable("a reduction without a row");
}

Value neutralElement(KernelEmitter &emitter, graph::Reduction kind, Type element) {
  if (kind == graph::Reduction::sum || kind == graph::Reduction::prod)
    return emitter.constant(element, kind == graph::Reduction::prod);
  bool lowest = kind == graph::Reduction::max;
  if (isa<FloatType>(element))
    return emitter.constant(element, lowest ? -INFINITY : INFINITY);
  unsigned bits = element.getIntOrFloatBitWidth();
  APInt value = lowest ? APInt::getSignedMinValue(bits) : APInt::getSignedMaxValue(bits);
  return arith::ConstantOp::create(emitter.builder(), emitter.loc(), emitter.builder().getIntegerAttr(element, value));
}

} // namespace xlc::lower
