// See MatchValues.h.
#include "xlc/Raise/MatchValues.h"

using namespace mlir;
using namespace xlc;

DenseElementsAttr xlc::findConstant(Value value) {
  while (auto broadcast = value.getDefiningOp<graph::BroadcastOp>())
    value = broadcast.getX();
  auto constant = value.getDefiningOp<graph::ConstantOp>();
  return constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
}

std::optional<double> xlc::findSplat(Value value) {
  DenseElementsAttr elements = findConstant(value);
  if (!elements || !elements.isSplat() || !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

bool xlc::peelFactor(Value &value, double &factor) {
  if (auto scale = value.getDefiningOp<graph::ScaleOp>()) {
    factor *= (double)scale.getNumerator() / (double)scale.getDenominator();
    value = scale.getX();
    return true;
  }
  if (auto div = value.getDefiningOp<graph::DivOp>())
    if (std::optional<double> divisor = findSplat(div.getB()); divisor && *divisor != 0) {
      factor /= *divisor;
      value = div.getA();
      return true;
    }
  auto mul = value.getDefiningOp<graph::MulOp>();
  if (!mul)
    return false;
  for (auto [constant, other] : {std::pair(mul.getA(), mul.getB()), std::pair(mul.getB(), mul.getA())})
    if (std::optional<double> c = findSplat(constant)) {
      factor *= *c;
      value = other;
      return true;
    }
  return false;
}
