// See Draws.h. Words are read as signed integers: words with the upper bit set, the greater half of the unsigned
// values, are negative.
#include "xlc/Dialect/Graph/Draws.h"

#include "xlc/Runtime/Dropout.h"

using namespace mlir;
using namespace xlc::graph;
using xlc::runtime::firstKeptWord;
using xlc::runtime::KeptScale;

static constexpr uint64_t kUpperHalf = uint64_t(1) << 31;

Value xlc::graph::isKept(Formula &f, Value words, double ratio) {
  uint64_t first = firstKeptWord(ratio);
  Value isUpper = f.isLess(words, 0);
  if (first == kUpperHalf)
    return isUpper;
  Value isAbove = f.compare(Predicate::ge, words, f.number((double)(int32_t)first, words));
  return first < kUpperHalf ? f.either(isUpper, isAbove) : f.both(isUpper, isAbove);
}

Value xlc::graph::scaleKept(Formula &f, Value x, double ratio) {
  KeptScale scale(ratio);
  return f.scale(x, scale.numerator, scale.denominator);
}

/// The number that all elements of `value` are, of integers or floats.
static std::optional<double> findNumber(Value value) {
  auto constant = skipReshapings(value).getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!elements || !elements.isSplat())
    return std::nullopt;
  if (isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<APFloat>().convertToDouble();
  return (double)elements.getSplatValue<APInt>().getSExtValue();
}

/// The words of which `condition` asks whether they are at least `least`, with their signs; null: it does not.
static Value matchAtLeast(Value condition, Predicate predicate, double least) {
  auto compare = condition.getDefiningOp<CompareOp>();
  bool fits = compare && compare.getPredicate() == predicate && findNumber(compare.getB()) == least;
  return fits ? compare.getA() : Value();
}

/// The words that `condition` says are kept by a Dropout of `ratio`; null: it says anything else.
static Value matchKept(Value condition, double ratio) {
  uint64_t first = firstKeptWord(ratio);
  if (first == kUpperHalf)
    return matchAtLeast(condition, Predicate::lt, 0);
  Operation *op = condition.getDefiningOp();
  if (!(first < kUpperHalf ? isa_and_present<OrOp>(op) : isa_and_present<AndOp>(op)))
    return {};
  Value upper = matchAtLeast(op->getOperand(0), Predicate::lt, 0);
  Value above = matchAtLeast(op->getOperand(1), Predicate::ge, (double)(int32_t)first);
  return upper == above ? upper : Value();
}

std::optional<DropoutMatch> xlc::graph::matchDropout(SelectOp select) {
  auto scale = select.getA().getDefiningOp<ScaleOp>();
  if (!scale || findNumber(select.getB()) != 0.0)
    return std::nullopt;
  auto numerator = (double)scale.getNumerator(), denominator = (double)scale.getDenominator();
  double ratio = (numerator - denominator) / numerator;
  if (!(ratio > 0 && ratio < 1))
    return std::nullopt;
  Value words = matchKept(select.getCondition(), ratio);
  return words ? std::optional<DropoutMatch>({scale.getX(), words, ratio}) : std::nullopt;
}

Value xlc::graph::joinDraws(Formula &f, Value first, Value key, Value subsequence) {
  SmallVector<int64_t> shape(typeOf(first).getShape());
  shape.push_back(1);
  SmallVector<Value> columns = {f.reshape(first, shape), f.broadcast(key, shape), f.broadcast(subsequence, shape)};
  shape.back() = runtime::kHeadDraws;
  return ConcatOp::create(f.b, f.loc, typeOf(first).clone(shape), columns, shape.size() - 1);
}

Value xlc::graph::dropScores(Formula &f, Value x, Value draws, double ratio) {
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  int64_t batch = shape[0], heads = shape[1], keys = shape[3];
  auto column = [&](int64_t number) {
    Value alone = f.slice(draws, {0, 0, number}, {batch, heads, 1});
    return f.broadcast(f.reshape(alone, {batch, heads, 1, 1}), shape);
  };
  Value place = f.add(f.mul(f.iota(shape, 2), (double)keys), f.iota(shape, 3));
  Value words = RandomBitsOp::create(f.b, f.loc, f.add(column(0), place), column(1), column(2));
  return f.select(isKept(f, words, ratio), scaleKept(f, x, ratio), 0.0);
}
