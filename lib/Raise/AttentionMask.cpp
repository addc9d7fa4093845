// See AttentionMask.h.
#include "AttentionMask.h"

#include "MaskRows.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Dialect/Graph/TrainingAttributes.h"
#include "xlc/Raise/MatchValues.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace xlc;
using xlc::graph::typeOf;

namespace {

bool isBoolean(Value value) { return typeOf(value).getElementType().isInteger(1); }

/// `op` on two values, repeated to a common shape where they differ.
template <typename OpTy> Value combine(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  SmallVector<int64_t> shape(typeOf(a).getShape());
  for (auto [size, other] : llvm::zip_equal(shape, typeOf(b).getShape()))
    size = std::max(size, other);
  for (Value *x : {&a, &b})
    if (typeOf(*x).getShape() != ArrayRef<int64_t>(shape))
      *x = graph::BroadcastOp::create(builder, loc, typeOf(*x).clone(shape), *x);
  return OpTy::create(builder, loc, a.getType(), a, b);
}

Value splat(OpBuilder &builder, Location loc, double value, Value like, Type elementType) {
  auto scalar = RankedTensorType::get({}, elementType);
  Value constant = graph::ConstantOp::create(
      builder, loc, scalar, DenseElementsAttr::get(scalar, (Attribute)builder.getFloatAttr(elementType, value)));
  return graph::BroadcastOp::create(builder, loc, scalar.clone(typeOf(like).getShape()), constant);
}

} // namespace

bool xlc::isLearned(Value value) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (Operation *op = reached[i].getDefiningOp()) {
      reached.insert_range(op->getOperands());
      continue;
    }
    auto argument = cast<BlockArgument>(reached[i]);
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (function && graph::Argument(argument).isTrained())
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Taking masks apart
//===----------------------------------------------------------------------===//

bool AttentionMask::isTooLong() {
  if (++reads > 256)
    problem = "its mask has more than 256 terms";
  return reads > 256;
}

void AttentionMask::readAdded(FactoredValue value, double factor) {
  Operation *op = value.value.getDefiningOp();
  if (isTooLong() || readKnown(value, /*keeps=*/true, factor, /*isFiniteTerm=*/true))
    return;
  if (isLearned(value.value)) {
    problem = "a learned term is added to its scores";
    return;
  }
  if (peelFactor(value.value, factor))
    return readAdded(value, factor);
  if (auto add = dyn_cast_or_null<graph::AddOp>(op)) {
    readAdded({add.getA(), value.dims}, factor);
    return readAdded({add.getB(), value.dims}, factor);
  }
  if (auto neg = dyn_cast_or_null<graph::NegOp>(op))
    return readAdded({neg.getX(), value.dims}, -factor);
  if (auto select = dyn_cast_or_null<graph::SelectOp>(op); select && readSelection(select, value, factor))
    return;
  if (auto sub = dyn_cast_or_null<graph::SubOp>(op); sub && readComplement(sub, value, factor))
    return;
  if (auto cast = dyn_cast_or_null<graph::CastOp>(op); cast && isBoolean(cast.getX()) && factor <= kMasked)
    return readCondition({cast.getX(), value.dims}, /*keeps=*/false, factor, /*replaces=*/false);
  if (factors.stepBack(value))
    return readAdded(value, factor);
  terms.push_back({value, factor});
}

/// A selection between 0, or another mask, and a very negative number.
bool AttentionMask::readSelection(graph::SelectOp select, const FactoredValue &value, double factor) {
  for (bool keeps : {true, false}) {
    Value kept = keeps ? select.getA() : select.getB(), dropped = keeps ? select.getB() : select.getA();
    std::optional<double> fill = findSplat(dropped);
    if (!fill || *fill * factor > kMasked)
      continue;
    readCondition({select.getCondition(), value.dims}, keeps, *fill * factor, /*replaces=*/false);
    if (findSplat(kept) != 0.0)
      readAdded({kept, value.dims}, factor);
    return true;
  }
  return false;
}

/// (1 - mask) * -3.4e38.
bool AttentionMask::readComplement(graph::SubOp sub, const FactoredValue &value, double factor) {
  auto cast = sub.getB().getDefiningOp<graph::CastOp>();
  if (findSplat(sub.getA()) != 1.0 || factor > kMasked || !cast || !isBoolean(cast.getX()))
    return false;
  readCondition({cast.getX(), value.dims}, /*keeps=*/true, factor, /*replaces=*/false);
  return true;
}

void AttentionMask::readCondition(FactoredValue value, bool keeps, double fill, bool replaces) {
  Operation *op = value.value.getDefiningOp();
  if (isTooLong() || readKnown(value, keeps, 1, /*isFiniteTerm=*/!replaces && std::isfinite(fill)))
    return;
  if (auto isNot = dyn_cast_or_null<graph::NotOp>(op))
    return readCondition({isNot.getX(), value.dims}, !keeps, fill, replaces);
  // Kept where both keep; dropped where either drops.
  if (isa_and_nonnull<graph::AndOp>(op) ? keeps : isa_and_nonnull<graph::OrOp>(op) && !keeps) {
    readCondition({op->getOperand(0), value.dims}, keeps, fill, replaces);
    return readCondition({op->getOperand(1), value.dims}, keeps, fill, replaces);
  }
  if (factors.stepBack(value))
    return readCondition(value, keeps, fill, replaces);
  conditions.push_back({value, keeps, fill, replaces});
}

//===----------------------------------------------------------------------===//
// Known masks
//===----------------------------------------------------------------------===//

/// The constant behind views; null where `value` is none.
DenseElementsAttr AttentionMask::findConstant(FactoredValue &value) {
  while (!value.value.getDefiningOp<graph::ConstantOp>())
    if (!factors.stepBack(value))
      return {};
  return dyn_cast<DenseElementsAttr>(value.value.getDefiningOp<graph::ConstantOp>().getValue());
}

/// What is known and allows keys by their distance, be it a constant or made of positions; false where `value` does
/// not. `isFiniteTerm`: what it forbids with is added to the scores, and, unless that is in its numbers, finite.
bool AttentionMask::readKnown(const FactoredValue &value, bool keeps, double factor, bool isFiniteTerm) {
  FactoredValue base = value;
  DenseElementsAttr mask = findConstant(base);
  std::optional<Distances> found =
      mask ? classify(mask, base, keeps, factor) : classifyExpression(value, keeps, factor);
  if (!found)
    return false;
  int64_t low = std::max(distances.low, found->low), high = std::min(distances.high, found->high);
  if (!isKind(low, high))
    return false;
  distances.low = low, distances.high = high;
  areDistancesAdded &= found->allowAll() || (isFiniteTerm && found->isFinite);
  return true;
}

/// Whether causality and a window can say it.
bool AttentionMask::isKind(int64_t low, int64_t high) const {
  return Distances{low, high}.allowAll() || (low == 0 && high >= 0) || (low == -high && high >= 0);
}

graph::Mask AttentionMask::getKind() const {
  return distances.low == 0 && distances.high != 0 ? graph::Mask::causal : graph::Mask::none;
}

int64_t AttentionMask::getWindow() const { return distances.high == INT64_MAX ? 0 : distances.high + 1; }

/// Whether a number that is added allows a key; none where it says neither yes nor no.
static std::optional<bool> allows(double added) {
  return added == 0 ? std::optional(true) : added <= kMasked ? std::optional(false) : std::nullopt;
}

static double numberAt(DenseElementsAttr mask, int64_t i) {
  return mask.getElementType().isF32() ? mask.getValues<float>()[i] : mask.getValues<double>()[i];
}

static std::optional<bool> allows(DenseElementsAttr mask, int64_t i, bool keeps, double factor) {
  if (mask.getElementType().isInteger(1))
    return mask.getValues<bool>()[i] == keeps;
  return allows(factor * numberAt(mask, i));
}

/// The distances at which `allowed` [queries, keys] holds, if it goes by distance.
template <typename Allowed>
static std::optional<Distances> findDistances(int64_t queries, int64_t keys, Allowed allowed) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j) {
      std::optional<bool> is = allowed(i, j);
      if (!is)
        return std::nullopt;
      if (*is)
        low = std::min(low, i - j), high = std::max(high, i - j);
    }
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j)
      if (*allowed(i, j) != (i - j >= low && i - j <= high))
        return std::nullopt;
  if (low > high)
    return std::nullopt;
  return Distances{low <= 1 - keys ? INT64_MIN : low, high >= queries - 1 ? INT64_MAX : high};
}

/// The distances at which the keys of `rows` lie, if those are all that the distances allow.
static std::optional<Distances> findDistances(const MaskRows &rows, int64_t keys, bool isInside) {
  std::vector<KeyInterval> allowed = rows.rows;
  for (KeyInterval &row : allowed)
    if (!isInside && row.begin != row.end && row.begin != 0 && row.end != keys)
      return std::nullopt;
    else if (!isInside)
      row = row.begin == row.end ? KeyInterval{0, keys}
            : row.begin == 0     ? KeyInterval{row.end, keys}
                                 : KeyInterval{0, row.begin};
  int64_t low = INT64_MAX, high = INT64_MIN, queries = (int64_t)allowed.size();
  for (auto [i, row] : llvm::enumerate(allowed))
    if (row.begin < row.end)
      low = std::min(low, (int64_t)i - row.end + 1), high = std::max(high, (int64_t)i - row.begin);
  if (low > high)
    return std::nullopt;
  for (auto [i, row] : llvm::enumerate(allowed)) {
    int64_t begin = std::max<int64_t>(0, (int64_t)i - high), end = std::min<int64_t>(keys, (int64_t)i - low + 1);
    if (row.begin == row.end ? begin < end : row.begin != begin || row.end != end)
      return std::nullopt;
  }
  return Distances{low <= 1 - keys ? INT64_MIN : low, high >= queries - 1 ? INT64_MAX : high};
}

/// A mask that is an expression of positions, too large to be written down.
std::optional<Distances> AttentionMask::classifyExpression(const FactoredValue &value, bool keeps,
                                                           double factor) const {
  FactorList query = factors.expand(scores.query), key = factors.expand(scores.key);
  size_t rank = value.dims.size();
  if (rank < 2 || factors.expand(value.dims[rank - 1]) != key || factors.expand(value.dims[rank - 2]) != query)
    return std::nullopt;
  int64_t queries = factors.sizeOf(query), keys = factors.sizeOf(key);
  MaskMemory::Question question(value.value.getAsOpaquePointer(), -1, -1, queries, keeps, factor);
  auto [known, isNew] = memory.answers.try_emplace(question);
  if (!isNew)
    return known->second;
  std::optional<MaskRows> rows = findMaskRows(value.value, queries, keys);
  if (!rows)
    return std::nullopt;
  auto is = [&](double number) {
    return isBoolean(value.value) ? std::optional((number != 0) == keeps) : allows(factor * number);
  };
  std::optional<bool> inside = is(rows->inside), outside = is(rows->outside);
  bool isAll = llvm::all_of(rows->rows, [&](KeyInterval row) { return row == KeyInterval{0, keys}; });
  if (isAll ? inside == true : inside == true && outside == true)
    known->second = Distances();
  else if (inside && outside && *inside != *outside)
    known->second = findDistances(*rows, keys, *inside);
  if (known->second && !isBoolean(value.value))
    known->second->isFinite = std::isfinite(*inside ? rows->outside : rows->inside);
  return known->second;
}

std::optional<Distances> AttentionMask::classify(DenseElementsAttr mask, const FactoredValue &value, bool keeps,
                                                 double factor) const {
  bool isNumber = mask.getElementType().isF32() || mask.getElementType().isF64();
  if (!isNumber && !mask.getElementType().isInteger(1))
    return std::nullopt;
  if (mask.isSplat())
    return allows(mask, 0, keeps, factor) == true ? std::optional(Distances()) : std::nullopt;
  int64_t queryStride = 0, keyStride = 0, stride = 1;
  FactorList query = factors.expand(scores.query), key = factors.expand(scores.key);
  for (int64_t d = typeOf(value.value).getRank() - 1; d >= 0; --d) {
    FactorList list = factors.expand(value.dims[d]);
    if (!list.empty() && list == query)
      queryStride = stride;
    else if (!list.empty() && list == key)
      keyStride = stride;
    else if (typeOf(value.value).getDimSize(d) != 1)
      return std::nullopt;
    stride *= typeOf(value.value).getDimSize(d);
  }
  int64_t queries = factors.sizeOf(query), keys = factors.sizeOf(key);
  MaskMemory::Question question(mask.getAsOpaquePointer(), queryStride, keyStride, queries, keeps, factor);
  auto [known, isNew] = memory.answers.try_emplace(question);
  bool isFinite = true;
  if (isNew)
    known->second = findDistances(queries, keys, [&](int64_t i, int64_t j) {
      int64_t at = i * queryStride + j * keyStride;
      isFinite &= !isNumber || std::isfinite(numberAt(mask, at));
      return allows(mask, at, keeps, factor);
    });
  if (isNew && known->second)
    known->second->isFinite = isFinite;
  return known->second;
}

//===----------------------------------------------------------------------===//
// Building the bias
//===----------------------------------------------------------------------===//

bool AttentionMask::isUniform() const {
  bool hasConditions = false, isFinite = true;
  for (const Condition &condition : conditions)
    if (!condition.isAdded())
      hasConditions = true, isFinite &= std::isfinite(condition.fill);
  return hasConditions && isFinite;
}

bool AttentionMask::isAdded() const {
  bool areFinite = llvm::all_of(
      conditions, [](const Condition &condition) { return !condition.replaces && std::isfinite(condition.fill); });
  return areFinite && areDistancesAdded && !(conditions.empty() && terms.empty());
}

/// `value` as [1|batch, 1|heads, 1|queries, keys].
Value AttentionMask::place(OpBuilder &builder, Location loc, const FactoredValue &value) const {
  FactorList has = factors.flatten(value);
  SmallVector<FactorList> to;
  for (const FactorList &list : {scores.batch, scores.heads, scores.query}) {
    FactorList parts = factors.expand(list);
    bool depends = llvm::any_of(parts, [&](int factor) { return llvm::is_contained(has, factor); });
    to.push_back(depends ? parts : FactorList());
  }
  to.push_back(factors.expand(scores.key));
  return factors.arrange(builder, loc, value, to);
}

Value AttentionMask::buildCondition(OpBuilder &builder, Location loc, const Condition &condition) const {
  Value allowed = place(builder, loc, condition.value);
  return condition.keeps ? allowed : graph::NotOp::create(builder, loc, allowed.getType(), allowed).getResult();
}

Value AttentionMask::buildBias(OpBuilder &builder, Location loc, Type elementType) const {
  Value allowed;
  bool areAdded = !terms.empty();
  for (const Condition &condition : conditions)
    if (condition.isAdded())
      areAdded = true;
    else
      allowed = combine<graph::AndOp>(builder, loc, allowed, buildCondition(builder, loc, condition));
  return areAdded ? buildTerms(builder, loc, allowed, elementType) : allowed;
}

/// Everything as one sum.
Value AttentionMask::buildTerms(OpBuilder &builder, Location loc, Value allowed, Type elementType) const {
  Value sum;
  auto add = [&](Value condition, double fill) {
    Value zero = splat(builder, loc, 0, condition, elementType),
          low = splat(builder, loc, fill, condition, elementType);
    Value term = graph::SelectOp::create(builder, loc, zero.getType(), condition, zero, low);
    sum = combine<graph::AddOp>(builder, loc, sum, term);
  };
  if (allowed)
    add(allowed, isUniform() ? -3.4028234663852886e38 : -INFINITY);
  for (const Condition &condition : conditions)
    if (condition.isAdded())
      add(buildCondition(builder, loc, condition), condition.fill);
  for (const Term &term : terms) {
    Value value = place(builder, loc, term.value);
    if (term.factor != 1)
      value = graph::MulOp::create(builder, loc, value.getType(), value,
                                   splat(builder, loc, term.factor, value, elementType));
    sum = combine<graph::AddOp>(builder, loc, sum, value);
  }
  return sum;
}
