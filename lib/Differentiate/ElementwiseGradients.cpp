// Gradient rules of element-wise ops. In each: x (or a, b) are operands, y the result, dy its cotangent.
#include "Rules.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Value product(GradientBuilder &b, Value x, Value y) { return b.create<MulOp>(x.getType(), x, y); }
Value difference(GradientBuilder &b, Value x, Value y) { return b.create<SubOp>(x.getType(), x, y); }
Value quotient(GradientBuilder &b, Value x, Value y) { return b.create<DivOp>(x.getType(), x, y); }
Value negated(GradientBuilder &b, Value x) { return b.create<NegOp>(x.getType(), x); }

Value compare(GradientBuilder &b, Predicate predicate, Value x, Value y) {
  auto type = RankedTensorType::get(typeOf(x).getShape(), IntegerType::get(x.getContext(), 1));
  return b.create<CompareOp>(type, predicate, x, y);
}

Value pick(GradientBuilder &b, Value condition, Value x, Value y) {
  return b.create<SelectOp>(x.getType(), condition, x, y);
}

/// False for a constant that is the same number everywhere, and not zero.
bool mayBeZero(Value x) {
  while (auto broadcast = x.getDefiningOp<BroadcastOp>())
    x = broadcast.getX();
  auto constant = x.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return !elements || !elements.isSplat() || elements.getSplatValue<APFloat>().isZero();
}

/// Larger or smaller of two: the winner gets dy; where both are equal, half each if both are asked for or the op is a
/// maximum as PyTorch has it (kSharesTies), else nothing (as relu at 0). Then the result says as well who won, and is
/// more likely to be kept for backward than the operand: what follows a relu reads it.
LogicalResult extremum(GradientBuilder &b, Operation *op, Value dy, Predicate wins) {
  Value zero = b.splat(typeOf(dy), 0);
  bool areBoth = (b.isNeeded(0) && b.isNeeded(1)) || op->hasAttr(kSharesTies);
  for (unsigned i : {0u, 1u}) {
    if (!b.isNeeded(i))
      continue;
    Value mine = areBoth ? op->getOperand(i) : op->getResult(0), other = op->getOperand(1 - i);
    Value tied = zero;
    if (areBoth)
      tied = pick(b, compare(b, Predicate::eq, mine, other), b.create<ScaleOp>(dy.getType(), dy, 1, 2), zero);
    b.contribute(i, pick(b, compare(b, wins, mine, other), dy, tied));
  }
  return success();
}

} // namespace

LogicalResult gradients::neg(GradientBuilder &b, Operation *op, ValueRange dy) {
  b.contribute(0, negated(b, dy[0]));
  return success();
}

LogicalResult gradients::abs(GradientBuilder &b, Operation *op, ValueRange dy) {
  Value x = op->getOperand(0);
  b.contribute(0, product(b, dy[0], b.create<SignOp>(x.getType(), x)));
  return success();
}

LogicalResult gradients::exp(GradientBuilder &b, Operation *op, ValueRange dy) {
  b.contribute(0, product(b, dy[0], op->getResult(0)));
  return success();
}

LogicalResult gradients::log(GradientBuilder &b, Operation *op, ValueRange dy) {
  b.contribute(0, quotient(b, dy[0], op->getOperand(0)));
  return success();
}

LogicalResult gradients::sqrt(GradientBuilder &b, Operation *op, ValueRange dy) {
  Value half = b.create<ScaleOp>(dy[0].getType(), dy[0], 1, 2);
  b.contribute(0, quotient(b, half, op->getResult(0)));
  return success();
}

LogicalResult gradients::tanh(GradientBuilder &b, Operation *op, ValueRange dy) { // dy (1 - y^2)
  Value y = op->getResult(0);
  b.contribute(0, product(b, dy[0], difference(b, b.splat(typeOf(y), 1), product(b, y, y))));
  return success();
}

LogicalResult gradients::sigmoid(GradientBuilder &b, Operation *op, ValueRange dy) { // dy y (1 - y)
  Value y = op->getResult(0);
  b.contribute(0, product(b, dy[0], product(b, y, difference(b, b.splat(typeOf(y), 1), y))));
  return success();
}

LogicalResult gradients::erf(GradientBuilder &b, Operation *op, ValueRange dy) { // dy 2/sqrt(pi) exp(-x^2)
  Value x = op->getOperand(0);
  Value bell = b.create<ExpOp>(x.getType(), negated(b, product(b, x, x)));
  b.contribute(0, product(b, dy[0], product(b, b.splat(typeOf(x), 1.1283791670955126), bell)));
  return success();
}

LogicalResult gradients::sin(GradientBuilder &b, Operation *op, ValueRange dy) {
  Value x = op->getOperand(0);
  b.contribute(0, product(b, dy[0], b.create<CosOp>(x.getType(), x)));
  return success();
}

LogicalResult gradients::cos(GradientBuilder &b, Operation *op, ValueRange dy) {
  Value x = op->getOperand(0);
  b.contribute(0, negated(b, product(b, dy[0], b.create<SinOp>(x.getType(), x))));
  return success();
}

LogicalResult gradients::atan(GradientBuilder &b, Operation *op, ValueRange dy) { // dy / (1 + x^2)
  Value x = op->getOperand(0);
  Value slope = b.create<AddOp>(x.getType(), b.splat(typeOf(x), 1), product(b, x, x));
  b.contribute(0, quotient(b, dy[0], slope));
  return success();
}

LogicalResult gradients::cast(GradientBuilder &b, Operation *op, ValueRange dy) {
  if (b.isNeeded(0) && isa<FloatType>(typeOf(op->getOperand(0)).getElementType()))
    b.contribute(0, b.create<CastOp>(op->getOperand(0).getType(), dy[0]));
  return success();
}

LogicalResult gradients::scale(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto scale = llvm::cast<ScaleOp>(op);
  b.contribute(0, b.create<ScaleOp>(dy[0].getType(), dy[0], scale.getNumerator(), scale.getDenominator()));
  return success();
}

LogicalResult gradients::add(GradientBuilder &b, Operation *op, ValueRange dy) {
  b.contribute(0, dy[0]);
  b.contribute(1, dy[0]);
  return success();
}

LogicalResult gradients::sub(GradientBuilder &b, Operation *op, ValueRange dy) {
  b.contribute(0, dy[0]);
  if (b.isNeeded(1))
    b.contribute(1, negated(b, dy[0]));
  return success();
}

LogicalResult gradients::mul(GradientBuilder &b, Operation *op, ValueRange dy) {
  for (unsigned i : {0u, 1u})
    if (b.isNeeded(i))
      b.contribute(i, product(b, dy[0], op->getOperand(1 - i)));
  return success();
}

LogicalResult gradients::div(GradientBuilder &b, Operation *op, ValueRange dy) { // da = dy/b, db = -y dy/b
  Value share = quotient(b, dy[0], op->getOperand(1));
  b.contribute(0, share);
  if (b.isNeeded(1))
    b.contribute(1, negated(b, product(b, share, op->getResult(0))));
  return success();
}

LogicalResult gradients::max(GradientBuilder &b, Operation *op, ValueRange dy) {
  return extremum(b, op, dy[0], Predicate::gt);
}

LogicalResult gradients::min(GradientBuilder &b, Operation *op, ValueRange dy) {
  return extremum(b, op, dy[0], Predicate::lt);
}

// Where a factor is zero the product is, whatever the other is: 0 x^-1 at x = 0, and y ln 0 of 0^e, e >= 0.
LogicalResult gradients::pow(GradientBuilder &b, Operation *op, ValueRange dy) {
  Value base = op->getOperand(0), exponent = op->getOperand(1), y = op->getResult(0), zero = b.splat(typeOf(y), 0);
  if (b.isNeeded(0)) { // dy e x^(e-1)
    Value less = difference(b, exponent, b.splat(typeOf(exponent), 1));
    Value slope = product(b, exponent, b.create<PowOp>(y.getType(), base, less));
    if (mayBeZero(exponent))
      slope = pick(b, compare(b, Predicate::eq, exponent, zero), zero, slope);
    b.contribute(0, product(b, dy[0], slope));
  }
  if (b.isNeeded(1)) { // dy y ln x
    Value slope = product(b, y, b.create<LogOp>(base.getType(), base));
    Value isZero = compare(b, Predicate::eq, base, zero), isRising = compare(b, Predicate::ge, exponent, zero);
    Value still = b.create<AndOp>(isZero.getType(), isZero, isRising);
    b.contribute(1, product(b, dy[0], pick(b, still, zero, slope)));
  }
  return success();
}

LogicalResult gradients::select(GradientBuilder &b, Operation *op, ValueRange dy) {
  Value condition = op->getOperand(0), zero = b.splat(typeOf(dy[0]), 0);
  if (b.isNeeded(1))
    b.contribute(1, pick(b, condition, dy[0], zero));
  if (b.isNeeded(2))
    b.contribute(2, pick(b, condition, zero, dy[0]));
  return success();
}
