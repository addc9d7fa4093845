// Recognises the logistic function 1 / (1 + e^-x), and x times it: SiLU, the gate of SwiGLU.
//
// In small ops, backward would keep e^-x, 1 + e^-x and the quotient, each as large as x.
#include "EraseDead.h"
#include "xlc/Raise/MatchValues.h"
#include "xlc/Raise/Raise.h"

using namespace mlir;
using namespace xlc;

namespace xlc {
#define GEN_PASS_DEF_RAISESILUPASS
#include "xlc/Raise/Passes.h.inc"
} // namespace xlc

namespace {

/// Moves through signs and constant factors.
void peel(Value &value, double &factor) {
  while (true) {
    auto neg = value.getDefiningOp<graph::NegOp>();
    if (neg)
      value = neg.getX(), factor = -factor;
    else if (!peelFactor(value, factor))
      return;
  }
}

/// If `op` is 1 / (1 + e^-cx), gives x and c.
std::optional<std::pair<Value, double>> matchSigmoid(graph::DivOp op) {
  auto sum = op.getB().getDefiningOp<graph::AddOp>();
  if (findSplat(op.getA()) != 1.0 || !sum)
    return std::nullopt;
  bool isFirst = findSplat(sum.getA()) == 1.0;
  if (!isFirst && findSplat(sum.getB()) != 1.0)
    return std::nullopt;
  auto power = (isFirst ? sum.getB() : sum.getA()).getDefiningOp<graph::ExpOp>();
  if (!power)
    return std::nullopt;
  Value x = power.getX();
  double factor = -1;
  peel(x, factor);
  return std::pair(x, factor);
}

Value times(OpBuilder &builder, Location loc, Value x, double factor) {
  if (factor == 1)
    return x;
  auto type = cast<RankedTensorType>(x.getType()), scalar = type.clone(ArrayRef<int64_t>{});
  Value constant = graph::ConstantOp::create(
      builder, loc, scalar,
      DenseElementsAttr::get(scalar, (Attribute)builder.getFloatAttr(type.getElementType(), factor)));
  if (type != scalar)
    constant = graph::BroadcastOp::create(builder, loc, type, constant);
  return graph::MulOp::create(builder, loc, type, x, constant);
}

/// The product of x and `sigmoid` of cx, in either order; null where there is none.
graph::MulOp findProduct(graph::SigmoidOp sigmoid, Value x) {
  for (Operation *user : sigmoid->getUsers())
    if (auto mul = dyn_cast<graph::MulOp>(user))
      if ((mul.getA() == sigmoid.getY() && mul.getB() == x) || (mul.getB() == sigmoid.getY() && mul.getA() == x))
        return mul;
  return {};
}

/// The quotient becomes the sigmoid of cx.
graph::SigmoidOp raiseQuotient(graph::DivOp quotient, Value x, double factor) {
  OpBuilder builder(quotient);
  Location loc = quotient.getLoc();
  auto sigmoid = graph::SigmoidOp::create(builder, loc, x.getType(), times(builder, loc, x, factor));
  quotient.getY().replaceAllUsesWith(sigmoid.getY());
  return sigmoid;
}

/// The product of x and the sigmoid of cx, where there is one, becomes silu(cx) / c.
bool raiseProduct(graph::SigmoidOp sigmoid) {
  Value scaled = sigmoid.getX(), x = scaled;
  double factor = 1;
  peel(x, factor);
  graph::MulOp product = factor == 0 ? graph::MulOp() : findProduct(sigmoid, x);
  if (!product)
    return false;
  OpBuilder builder(product);
  Value silu = graph::SiluOp::create(builder, product.getLoc(), x.getType(), scaled);
  product.getY().replaceAllUsesWith(times(builder, product.getLoc(), silu, 1 / factor));
  return true;
}

struct RaiseSilu : xlc::impl::RaiseSiluPassBase<RaiseSilu> {
  void runOnOperation() override {
    SmallVector<graph::DivOp> quotients;
    SmallVector<graph::SigmoidOp> sigmoids;
    getOperation().walk([&](Operation *op) {
      if (auto quotient = dyn_cast<graph::DivOp>(op))
        quotients.push_back(quotient);
      else if (auto sigmoid = dyn_cast<graph::SigmoidOp>(op))
        sigmoids.push_back(sigmoid);
    });
    bool hasFound = false;
    for (graph::DivOp quotient : quotients)
      if (auto found = matchSigmoid(quotient); found && found->second != 0) {
        sigmoids.push_back(raiseQuotient(quotient, found->first, found->second));
        hasFound = true;
      }
    for (graph::SigmoidOp sigmoid : sigmoids)
      hasFound |= raiseProduct(sigmoid);
    eraseDead(getOperation(), hasFound);
  }
};

} // namespace
