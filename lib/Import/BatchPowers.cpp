// Finds the power of each value: how its factors grow with the number of rows, by comparing the same op at two batches.
//
// A mean is a sum times 1/rows, but the graph has only a number like 1/80 as the factor. At another batch the number
// differs, and the quotient of the two numbers shows the power of the number of rows. Numbers that are part of the file
// are equal at both batches. Without a graph at another batch (the file fixes its batch), a factor that the number of
// rows divides may be either, unless it is that of a mean.
#include "BatchRows.h"

#include "xlc/Raise/MatchValues.h"
#include <cmath>

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

/// Elements that are summed into each element of a reduction; 0 where `value` is none.
static int64_t summedElements(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getX();
  auto reduce = value.getDefiningOp<graph::ReduceOp>();
  if (!reduce || reduce.getKind() != graph::Reduction::sum)
    return 0;
  int64_t elements = 1;
  for (int64_t dim : reduce.getDimensions())
    elements *= cast<RankedTensorType>(reduce.getX().getType()).getDimSize(dim);
  return elements;
}

std::optional<int> BatchRows::powerOfRatio(double ratio) const {
  for (int power : {0, -1, 1, -2, 2})
    if (std::abs(ratio / std::pow(double(rows) / double(otherRows), power) - 1) < 1e-6)
      return power;
  return std::nullopt;
}

std::optional<int> BatchRows::factorOf(Operation *op) const {
  auto scale = dyn_cast<graph::ScaleOp>(op);
  if (!scale)
    return 0;
  if (auto twin = dyn_cast_or_null<graph::ScaleOp>(twins.lookup(op)))
    return powerOfRatio(double(scale.getNumerator()) / double(twin.getNumerator()) * double(twin.getDenominator()) /
                        double(scale.getDenominator()));
  int64_t numerator = scale.getNumerator(), denominator = scale.getDenominator();
  if (numerator % rows != 0 && denominator % rows != 0)
    return 0;
  bool isSummed = of(scale.getX()).kind == Kind::Sum;
  if (numerator == 1 && denominator == summedElements(scale.getX()))
    return isSummed ? -1 : 0; // a mean, over the rows or over other dimensions
  return isSummed ? std::nullopt : std::optional(0);
}

std::optional<int> BatchRows::powerOfConstant(graph::ConstantOp op) const {
  auto elements = cast<DenseElementsAttr>(op.getValue());
  auto twin = dyn_cast_or_null<graph::ConstantOp>(twins.lookup(op));
  if (!twin)
    return 0;
  auto others = cast<DenseElementsAttr>(twin.getValue());
  if (elements == others)
    return 0;
  auto numberOf = [](DenseElementsAttr of) {
    return isa<FloatType>(of.getElementType()) ? of.getSplatValue<APFloat>().convertToDouble()
                                               : double(of.getSplatValue<APInt>().getSExtValue());
  };
  if (elements.isSplat() && others.isSplat()) {
    double a = numberOf(elements), b = numberOf(others);
    return a == b ? std::optional(0) : a != 0 && b != 0 ? powerOfRatio(a / b) : std::nullopt;
  }
  // The same numbers for each row are the same however many rows there are; what numbers the rows is not uniform.
  return elements.getType() == others.getType() ? std::nullopt : std::optional(0);
}

/// Of each set of operands in which the op is linear, one power; they multiply.
std::optional<int> BatchRows::powerOf(Operation *op) const {
  if (auto constant = dyn_cast<graph::ConstantOp>(op))
    return powerOfConstant(constant);
  bool areAllZero = true;
  for (Value operand : op->getOperands()) {
    if (!of(operand).power)
      return std::nullopt;
    areAllZero &= *of(operand).power == 0;
  }
  if (auto reduce = dyn_cast<graph::ReduceOp>(op); reduce && of(reduce.getX()).kind == Kind::Same && rows != otherRows)
    for (int64_t dim : reduce.getDimensions()) // over all places in the batch
      if (cast<RankedTensorType>(reduce.getX().getType()).getDimSize(dim) % rows == 0)
        return std::nullopt;
  if (isa<graph::ScaleOp>(op)) {
    std::optional<int> factor = factorOf(op);
    return factor ? std::optional(*of(op->getOperand(0)).power + *factor) : std::nullopt;
  }
  if (areAllZero)
    return 0;
  if (isa<graph::DivOp>(op))
    return *of(op->getOperand(0)).power - *of(op->getOperand(1)).power;
  if (isa<graph::CastOp>(op))
    return of(op->getOperand(0)).power;
  uint32_t seen = 0;
  int power = 0;
  for (uint32_t set : shard::getLinearSets(op)) {
    std::optional<int> common;
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      if (!(set >> number & 1) || shard::isZero(operand))
        continue;
      int own = *of(operand).power;
      if (common.value_or(own) != own)
        return std::nullopt;
      common = own;
    }
    if (seen & set)
      continue;
    seen |= set;
    power += common.value_or(0);
  }
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (!(seen >> number & 1) && *of(operand).power != 0)
      return std::nullopt;
  return power;
}
