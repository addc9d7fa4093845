// Gradient rules of element-wise ops. In each rule, x (or a, b) are the operands, y is the result, dy its cotangent.
#include "Rules.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

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
  Value zero = b.number(0, dy);
  bool areBoth = (b.isNeeded(0) && b.isNeeded(1)) || op->hasAttr(kSharesTies);
  for (unsigned i : {0u, 1u}) {
    if (!b.isNeeded(i))
      continue;
    Value mine = areBoth ? op->getOperand(i) : op->getResult(0), other = op->getOperand(1 - i);
    Value tied = zero;
    if (areBoth)
      tied = b.select(b.compare(Predicate::eq, mine, other), b.scale(dy, 1, 2), zero);
    b.contribute(i, b.select(b.compare(wins, mine, other), dy, tied));
  }
  return success();
}

} // namespace

LogicalResult gradients::neg(GradientBuilder &b, Operation *op, ValueRange dy) {
  b.contribute(0, b.neg(dy[0]));
  return success();
}

LogicalResult gradients::abs(GradientBuilder &b, Operation *op, ValueRange dy) {
  b.contribute(0, b.mul(dy[0], b.sign(op->getOperand(0))));
  return success();
}

LogicalResult gradients::exp(GradientBuilder &b, Operation *op, ValueRange dy) {
  b.contribute(0, b.mul(dy[0], op->getResult(0)));
  return success();
}

LogicalResult gradients::log(GradientBuilder &b, Operation *op, ValueRange dy) {
  b.contribute(0, b.div(dy[0], op->getOperand(0)));
  return success();
}

LogicalResult gradients::sqrt(GradientBuilder &b, Operation *op, ValueRange dy) {
  Value half = b.scale(dy[0], 1, 2);
  b.contribute(0, b.div(half, op->getResult(0)));
  return success();
}

LogicalResult gradients::tanh(GradientBuilder &b, Operation *op, ValueRange dy) { // dy (1 - y^2)
  Value y = op->getResult(0);
  b.contribute(0, b.mul(dy[0], b.sub(b.number(1, y), b.mul(y, y))));
  return success();
}

LogicalResult gradients::sigmoid(GradientBuilder &b, Operation *op, ValueRange dy) { // dy y (1 - y)
  Value y = op->getResult(0);
  b.contribute(0, b.mul(dy[0], b.mul(y, b.sub(b.number(1, y), y))));
  return success();
}

LogicalResult gradients::erf(GradientBuilder &b, Operation *op, ValueRange dy) { // dy 2/sqrt(pi) exp(-x^2)
  Value x = op->getOperand(0);
  Value bell = b.exp(b.neg(b.mul(x, x)));
  b.contribute(0, b.mul(dy[0], b.mul(b.number(1.1283791670955126, x), bell)));
  return success();
}

LogicalResult gradients::sin(GradientBuilder &b, Operation *op, ValueRange dy) {
  b.contribute(0, b.mul(dy[0], b.unary<CosOp>(op->getOperand(0))));
  return success();
}

LogicalResult gradients::cos(GradientBuilder &b, Operation *op, ValueRange dy) {
  b.contribute(0, b.neg(b.mul(dy[0], b.unary<SinOp>(op->getOperand(0)))));
  return success();
}

LogicalResult gradients::atan(GradientBuilder &b, Operation *op, ValueRange dy) { // dy / (1 + x^2)
  Value x = op->getOperand(0);
  Value slope = b.add(b.number(1, x), b.mul(x, x));
  b.contribute(0, b.div(dy[0], slope));
  return success();
}

LogicalResult gradients::cast(GradientBuilder &b, Operation *op, ValueRange dy) {
  if (b.isNeeded(0) && isa<FloatType>(typeOf(op->getOperand(0)).getElementType()))
    b.contribute(0, b.convert(dy[0], typeOf(op->getOperand(0)).getElementType()));
  return success();
}

LogicalResult gradients::scale(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto scale = llvm::cast<ScaleOp>(op);
  b.contribute(0, b.scale(dy[0], scale.getNumerator(), scale.getDenominator()));
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
    b.contribute(1, b.neg(dy[0]));
  return success();
}

LogicalResult gradients::mul(GradientBuilder &b, Operation *op, ValueRange dy) {
  for (unsigned i : {0u, 1u})
    if (b.isNeeded(i))
      b.contribute(i, b.mul(dy[0], op->getOperand(1 - i)));
  return success();
}

LogicalResult gradients::div(GradientBuilder &b, Operation *op, ValueRange dy) { // da = dy/b, db = -y dy/b
  Value share = b.div(dy[0], op->getOperand(1));
  b.contribute(0, share);
  if (b.isNeeded(1))
    b.contribute(1, b.neg(b.mul(share, op->getResult(0))));
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
  Value base = op->getOperand(0), exponent = op->getOperand(1), y = op->getResult(0), zero = b.number(0, y);
  if (b.isNeeded(0)) { // dy e x^(e-1)
    Value less = b.sub(exponent, b.number(1, exponent));
    Value slope = b.mul(exponent, b.pow(base, less));
    if (mayBeZero(exponent))
      slope = b.select(b.compare(Predicate::eq, exponent, zero), zero, slope);
    b.contribute(0, b.mul(dy[0], slope));
  }
  if (b.isNeeded(1)) { // dy y ln x
    Value slope = b.mul(y, b.log(base));
    Value isZero = b.compare(Predicate::eq, base, zero), isRising = b.compare(Predicate::ge, exponent, zero);
    Value still = b.both(isZero, isRising);
    b.contribute(1, b.mul(dy[0], b.select(still, zero, slope)));
  }
  return success();
}

LogicalResult gradients::select(GradientBuilder &b, Operation *op, ValueRange dy) {
  Value condition = op->getOperand(0), zero = b.number(0, dy[0]);
  if (b.isNeeded(1))
    b.contribute(1, b.select(condition, dy[0], zero));
  if (b.isNeeded(2))
    b.contribute(2, b.select(condition, zero, dy[0]));
  return success();
}
