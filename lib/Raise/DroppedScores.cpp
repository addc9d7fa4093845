// See DroppedScores.h.
#include "DroppedScores.h"

#include "xlc/Dialect/Graph/Draws.h"
#include "xlc/Raise/MatchValues.h"

using namespace mlir;
using namespace xlc;
using xlc::graph::typeOf;

/// The integer that all elements of `value` are, if it is known.
static std::optional<int64_t> findInteger(Value value) {
  DenseElementsAttr elements = findConstant(value);
  if (!elements || !elements.isSplat() || !isa<IntegerType>(elements.getElementType()))
    return std::nullopt;
  return elements.getSplatValue<APInt>().getSExtValue();
}

bool DroppedScores::read(const ScoreFactors &of) {
  scores = of;
  while (factors.stepBack(words))
    ;
  auto bits = words.value.getDefiningOp<graph::RandomBitsOp>();
  if (!bits)
    return false;
  key = graph::skipReshapings(bits.getKey()), subsequence = graph::skipReshapings(bits.getSubsequence());
  if (typeOf(key).getRank() != 0 || typeOf(subsequence).getRank() != 0)
    return false;
  if (!readSum({bits.getIndex(), words.dims}, 1))
    return false;
  return hasStrides(scores.key, 1) && hasStrides(scores.query, factors.sizeOf(scores.key));
}

/// `value` * factor is a part of the sum.
bool DroppedScores::readSum(FactoredValue value, int64_t factor) {
  while (factors.stepBack(value))
    ;
  if (std::optional<int64_t> number = findInteger(value.value)) {
    first += *number * factor;
    return true;
  }
  if (auto add = value.value.getDefiningOp<graph::AddOp>())
    return readSum({add.getA(), value.dims}, factor) && readSum({add.getB(), value.dims}, factor);
  if (auto mul = value.value.getDefiningOp<graph::MulOp>()) {
    for (auto [constant, other] : {std::pair(mul.getB(), mul.getA()), std::pair(mul.getA(), mul.getB())})
      if (std::optional<int64_t> number = findInteger(constant))
        return readSum({other, value.dims}, factor * *number);
    return false;
  }
  if (auto iota = value.value.getDefiningOp<graph::IotaOp>()) {
    splitIota(iota, value, factor);
    return true;
  }
  numbers.push_back({value, factor});
  FactorList inRow = factors.expand(scores.key), ofNumber = factors.flatten(value);
  llvm::append_range(inRow, factors.expand(scores.query));
  return isa<BlockArgument>(value.value) &&
         llvm::none_of(ofNumber, [&](int part) { return llvm::is_contained(inRow, part); });
}

void DroppedScores::splitIota(graph::IotaOp iota, const FactoredValue &value, int64_t factor) {
  int64_t stride = factor;
  FactorList parts = factors.expand(value.dims[iota.getDimension()]);
  for (int part : llvm::reverse(parts)) {
    strides.push_back({part, stride});
    stride *= factors.sizeOf({part});
  }
}

/// Whether the elements of `list` are counted one by one, each by `stride`.
bool DroppedScores::hasStrides(ArrayRef<int> list, int64_t stride) {
  FactorList parts = factors.expand(list);
  for (int part : llvm::reverse(parts)) {
    int64_t found = 0;
    for (auto [counted, by] : strides)
      found += counted == part ? by : 0;
    if (found != stride)
      return false;
    stride *= factors.sizeOf({part});
  }
  return true;
}

Value DroppedScores::buildDraws(OpBuilder &builder, Location loc) const {
  graph::Formula f(builder, loc, graph::Spelling::Plain);
  SmallVector<FactorList> place = {scores.batch, scores.heads};
  SmallVector<int64_t> shape = {factors.sizeOf(scores.batch), factors.sizeOf(scores.heads)};
  Value sum;
  auto add = [&](Value value, int64_t factor) {
    Value term = factor == 1 ? value : f.mul(value, (double)factor);
    sum = sum ? f.add(sum, term) : term;
  };
  for (const Term &number : numbers)
    add(factors.arrange(f.b, loc, number.value, place), number.factor);
  FactorList inRow = factors.expand(scores.key);
  llvm::append_range(inRow, factors.expand(scores.query));
  for (auto [part, stride] : strides)
    if (!llvm::is_contained(inRow, part))
      add(factors.arrange(f.b, loc, {f.iota({factors.sizeOf({part})}, 0), {{part}}}, place), stride);
  if (!sum || first != 0)
    add(f.number((double)first, RankedTensorType::get(shape, f.b.getI64Type())), 1);
  return graph::joinDraws(f, sum, key, subsequence);
}
