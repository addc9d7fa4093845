// Recognises RMS norm and layer norm written in small ops.
//
//     x ─► (x - mean) ─► square ─► mean ─► + epsilon ─► sqrt ─► divide x, or multiply by its reciprocal
//          only layer norm                                        ─► * weight ─► + bias
//
// Statistics of rows are [..., 1] in some files and [...] in others. Row-major order is the same in both, so reshapes
// between them are skipped.
#include "EraseDead.h"
#include "xlc/Raise/MatchValues.h"
#include "xlc/Raise/Raise.h"

#include <cmath>

using namespace mlir;
using namespace xlc;
using xlc::graph::shapeOf;
using xlc::graph::typeOf;

namespace xlc {
#define GEN_PASS_DEF_RAISENORMSPASS
#include "xlc/Raise/Passes.h.inc"
} // namespace xlc

namespace {

Value skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getX();
  return value;
}

/// One value per row of `like`, repeated along the rows; null where `value` is something else.
Value findRowValue(Value value, Value like) {
  auto broadcast = value.getDefiningOp<graph::BroadcastOp>();
  SmallVector<int64_t> rows(shapeOf(like));
  if (rows.empty())
    return {};
  rows.back() = 1;
  return broadcast && shapeOf(broadcast.getX()) == ArrayRef<int64_t>(rows) ? skipReshapes(broadcast.getX()) : Value();
}

/// What `mean` is the mean of, along the last dimension; null where it is none.
Value findMeanOf(Value mean) {
  double factor = 1;
  do
    mean = skipReshapes(mean);
  while (peelFactor(mean, factor));
  auto sum = mean.getDefiningOp<graph::ReduceOp>();
  if (!sum || sum.getKind() != graph::Reduction::sum || sum.getDimensions().size() != 1)
    return {};
  ArrayRef<int64_t> shape = shapeOf(sum.getX());
  bool isLast = sum.getDimensions().front() == (int64_t)shape.size() - 1;
  return isLast && std::abs(factor * (double)shape.back() - 1) < 1e-6 ? sum.getX() : Value();
}

/// sqrt(v) as v, v^-1/2 or 1/sqrt(v) as v with `isInverse`; null where `root` is neither.
Value findRoot(Value root, bool &isInverse) {
  root = skipReshapes(root);
  isInverse = false;
  if (auto div = root.getDefiningOp<graph::DivOp>(); div && findSplat(div.getA()) == 1.0) {
    isInverse = true;
    root = skipReshapes(div.getB());
  }
  if (auto sqrt = root.getDefiningOp<graph::SqrtOp>())
    return skipReshapes(sqrt.getX());
  auto pow = root.getDefiningOp<graph::PowOp>();
  if (!pow || findSplat(pow.getB()) != -0.5 || isInverse)
    return {};
  isInverse = true;
  return skipReshapes(pow.getA());
}

struct Norm {
  Value x, result; ///< before centring; normalised
  bool isCentred;
  double epsilon;
};

/// The norm whose root stands in `root`, applied to `x`.
std::optional<Norm> matchStatistics(Value x, Value root, bool divides, Value result) {
  bool isInverse;
  Value rows = findRowValue(root, x), sum = rows ? findRoot(rows, isInverse) : Value();
  auto add = sum ? sum.getDefiningOp<graph::AddOp>() : graph::AddOp();
  if (!add || isInverse == divides)
    return std::nullopt;
  bool isFirst = findSplat(add.getA()).has_value();
  std::optional<double> epsilon = findSplat(add->getOperand(isFirst ? 0 : 1));
  Value squares = epsilon ? findMeanOf(add->getOperand(isFirst ? 1 : 0)) : Value();
  auto square = squares ? squares.getDefiningOp<graph::MulOp>() : graph::MulOp();
  if (!square || square.getA() != x || square.getB() != x)
    return std::nullopt;
  auto centre = x.getDefiningOp<graph::SubOp>();
  Value mean = centre ? findRowValue(centre.getB(), x) : Value();
  if (mean && findMeanOf(mean) == centre.getA())
    return Norm{centre.getA(), result, true, *epsilon};
  return Norm{x, result, false, *epsilon};
}

std::optional<Norm> matchNorm(Operation *op) {
  if (auto div = dyn_cast<graph::DivOp>(op))
    return matchStatistics(div.getA(), div.getB(), true, div.getY());
  if (auto mul = dyn_cast<graph::MulOp>(op))
    for (unsigned i : {0u, 1u})
      if (auto norm = matchStatistics(op->getOperand(i), op->getOperand(1 - i), false, mul.getY()))
        return norm;
  return std::nullopt;
}

/// If `value` goes on only to OP(value, vector along the last dimension): moves on to its result.
template <typename OpTy> Value takeVector(Value &value) {
  if (!value.hasOneUse())
    return {};
  auto op = dyn_cast<OpTy>(*value.getUsers().begin());
  if (!op)
    return {};
  auto broadcast = op->getOperand(op->getOperand(0) == value ? 1 : 0).template getDefiningOp<graph::BroadcastOp>();
  Value vector = broadcast ? skipReshapes(broadcast.getX()) : Value();
  int64_t width = shapeOf(value).back();
  if (!vector || shapeOf(vector) != ArrayRef(width) || shapeOf(broadcast.getX()).back() != width)
    return {};
  value = op->getResult(0);
  return vector;
}

Value fill(OpBuilder &builder, Location loc, double value, int64_t size, Type element) {
  auto type = RankedTensorType::get({size}, element);
  return graph::ConstantOp::create(builder, loc, type,
                                   DenseElementsAttr::get(type, (Attribute)builder.getFloatAttr(element, value)));
}

void raise(const Norm &norm) {
  Value last = norm.result, weight = takeVector<graph::MulOp>(last);
  Value bias = norm.isCentred ? takeVector<graph::AddOp>(last) : Value();
  OpBuilder builder(last.getDefiningOp());
  Location loc = last.getLoc();
  RankedTensorType type = typeOf(norm.x), rows = type.clone(type.getShape().drop_back());
  int64_t width = type.getShape().back();
  FloatAttr epsilon = builder.getF64FloatAttr(norm.epsilon);
  if (!weight)
    weight = fill(builder, loc, 1, width, type.getElementType());
  if (norm.isCentred && !bias)
    bias = fill(builder, loc, 0, width, type.getElementType());
  Value y =
      norm.isCentred
          ? graph::LayerNormOp::create(builder, loc, TypeRange{type, rows, rows}, norm.x, weight, bias, epsilon).getY()
          : graph::RmsNormOp::create(builder, loc, TypeRange{type, rows}, norm.x, weight, epsilon).getY();
  last.replaceAllUsesWith(y);
}

struct RaiseNorms : xlc::impl::RaiseNormsPassBase<RaiseNorms> {
  void runOnOperation() override {
    SmallVector<Operation *> candidates;
    getOperation().walk([&](Operation *op) {
      if (isa<graph::MulOp, graph::DivOp>(op))
        candidates.push_back(op);
    });
    bool hasFound = false;
    for (Operation *op : candidates)
      if (std::optional<Norm> norm = matchNorm(op)) {
        raise(*norm);
        hasFound = true;
      }
    eraseDead(getOperation(), hasFound);
  }
};

} // namespace
