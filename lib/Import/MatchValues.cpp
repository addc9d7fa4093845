// See MatchValues.h. Masks are recognised by their elements, whatever computed them.
#include "MatchValues.h"
#include "MaskRows.h"

using namespace mlir;
using namespace xlc;

/// From here on, a score added to the mask is exp(...) = 0 beside any other; old GPT-2 exports use -10000.
static constexpr double forbidden = -1e4;

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

/// Classifies a mask by the question "may element i be attended to" (none: neither yes nor no).
template <typename Allows>
static std::optional<graph::Mask> classify(DenseElementsAttr mask, int64_t queries, int64_t keys, Allows allows) {
  auto type = cast<RankedTensorType>(mask.getType());
  if (mask.isSplat()) {
    std::optional<bool> all = allows(0);
    return all == true ? std::optional(graph::Mask::none) : std::nullopt;
  }
  int64_t rank = type.getRank();
  if (rank < 2 || type.getDimSize(rank - 2) != queries || type.getDimSize(rank - 1) != keys)
    return std::nullopt;
  bool isCausal = true, isNone = true;
  for (int64_t i = 0, n = type.getNumElements(); i < n && (isCausal || isNone); ++i) {
    std::optional<bool> allowed = allows(i);
    if (!allowed)
      return std::nullopt;
    bool isPast = i % keys <= i / keys % queries;
    isCausal &= *allowed == isPast;
    isNone &= *allowed;
  }
  return isNone ? std::optional(graph::Mask::none) : isCausal ? std::optional(graph::Mask::causal) : std::nullopt;
}

/// The same for a mask that is an expression of positions: `allowed` is its value where attention goes.
template <typename Allows>
static std::optional<graph::Mask> classifyRows(Value mask, int64_t queries, int64_t keys, Allows allows) {
  std::optional<MaskRows> rows = findMaskRows(mask, queries, keys);
  if (!rows)
    return std::nullopt;
  std::optional<bool> inside = allows(rows->inside), outside = allows(rows->outside);
  bool isNone = true, isCausal = true;
  for (auto [query, row] : llvm::enumerate(rows->rows)) {
    int64_t past = std::min<int64_t>(query + 1, keys);
    bool coversAll = row == KeyInterval{0, keys}, isEmpty = row.begin == row.end;
    isNone &= (coversAll && inside == true) || (isEmpty && outside == true);
    bool isPast = inside == true && row == KeyInterval{0, past};
    bool isFuture = outside == true && (row == KeyInterval{past, keys} || (isEmpty && past == keys));
    isCausal &= isPast || isFuture;
  }
  bool forbidsRest = (inside == true ? outside : inside) == false;
  return isNone                    ? std::optional(graph::Mask::none)
         : isCausal && forbidsRest ? std::optional(graph::Mask::causal)
                                   : std::nullopt;
}

std::optional<graph::Mask> xlc::findAdditiveMask(Value mask, int64_t queries, int64_t keys) {
  DenseElementsAttr elements = findConstant(mask);
  auto allows = [](double value) -> std::optional<bool> {
    return value == 0 ? std::optional(true) : value <= forbidden ? std::optional(false) : std::nullopt;
  };
  if (!elements)
    return classifyRows(mask, queries, keys, allows);
  if (!elements.getElementType().isF32())
    return std::nullopt;
  auto values = elements.getValues<float>();
  return classify(elements, queries, keys, [&](int64_t i) { return allows(values[i]); });
}

std::optional<graph::Mask> xlc::findBooleanMask(Value mask, int64_t queries, int64_t keys, bool keeps) {
  DenseElementsAttr elements = findConstant(mask);
  if (!elements)
    return classifyRows(mask, queries, keys, [&](double value) { return std::optional((value != 0) == keeps); });
  if (!elements.getElementType().isInteger(1))
    return std::nullopt;
  auto values = elements.getValues<bool>();
  return classify(elements, queries, keys, [&](int64_t i) { return std::optional(values[i] == keeps); });
}
