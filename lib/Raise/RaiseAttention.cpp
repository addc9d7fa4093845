// Recognises attention, beginning at its result, for any order of dimensions.
//
//     contract(q, k) ─► * scale ─► + mask ─► softmax ─► guard against NaN ─► dropout ─► contract with v
//
// The walk goes from the second product back to q, k and v, through ops that only scale, mask, rearrange or repeat, and
// tracks the factors of every dimension (Factors.h). The role of a factor follows from the values that have it:
//
//     summed by the first product: width       softmax along it: key       in the result and v only: width of v
//     in q only: a query, or a head of a group that shares its keys       in q and k: batch, or a group of heads
#include "RaiseAttention.h"
#include "AttentionMask.h"
#include "DroppedScores.h"
#include "EraseDead.h"
#include "xlc/Dialect/Graph/Draws.h"
#include "xlc/Raise/MatchValues.h"
#include "xlc/Raise/Raise.h"

using namespace mlir;
using namespace xlc;
using xlc::graph::typeOf;

namespace xlc {
#define GEN_PASS_DEF_RAISEATTENTIONPASS
#include "xlc/Raise/Passes.h.inc"
} // namespace xlc

namespace {

/// A mask as it was met on the way from the softmax to the product.
struct MaskStep {
  FactoredValue value;
  bool isAdded;
  bool keeps;    ///< of a selection
  double factor; ///< of an addition; of a selection the score that it gives
};

class Matcher {
public:
  explicit Matcher(MaskMemory &memory) : memory(memory) {}

  /// Whether `product` is the second one of an attention. If it multiplies a softmax, yet is not, getProblem says why.
  bool match(graph::ContractOp product) {
    for (unsigned side : {0u, 1u})
      if (readProduct(product, side))
        return matchScores() && readMasks() && readDropout();
    return false;
  }

  StringRef getProblem() const { return problem; }
  graph::SoftmaxOp getSoftmax() const { return softmax; }

  /// Whether a product stands behind what happens to each element, and rearrangements.
  static bool leadsToProduct(Value value, int depth = 0) {
    Operation *op = value.getDefiningOp();
    if (!op || depth > 8)
      return false;
    if (isa<graph::ContractOp>(op))
      return true;
    if (!op->hasTrait<graph::Elementwise>() && !isa<graph::ReshapeOp, graph::TransposeOp>(op))
      return false;
    return llvm::any_of(op->getOperands(), [&](Value operand) { return leadsToProduct(operand, depth + 1); });
  }

  void raise(graph::ContractOp product) {
    OpBuilder builder(product);
    Location loc = product.getLoc();
    Value q = factors.arrange(builder, loc, queries, {scores.batch, scores.query, scores.heads, width});
    Value k = factors.arrange(builder, loc, keys, {scores.batch, scores.key, groups, width});
    Value v = factors.arrange(builder, loc, values, {scores.batch, scores.key, groups, valueWidth});
    Value bias = mask->buildBias(builder, loc, typeOf(q).getElementType());
    int64_t batch = typeOf(q).getDimSize(0), positions = typeOf(q).getDimSize(1), heads = typeOf(q).getDimSize(2);
    Type out = typeOf(q).clone({batch, positions, heads, typeOf(v).getDimSize(3)});
    Type lse = RankedTensorType::get({batch, heads, positions}, builder.getF64Type());
    Value draws = dropout ? dropout->buildDraws(builder, loc) : Value();
    FloatAttr ratio = dropout ? builder.getF64FloatAttr(dropout->getRatio()) : FloatAttr();
    IntegerAttr window = mask->getWindow() ? builder.getI64IntegerAttr(mask->getWindow()) : IntegerAttr();
    auto attention = graph::AttentionOp::create(builder, loc, TypeRange{out, lse}, mask->getKind(), q, k, v, bias,
                                                draws, llvm::APFloat(scale), window, ratio, mask->isUniform(),
                                                !isClamped && mask->isAdded());
    FactoredValue result{attention.getOut(), {scores.batch, scores.query, scores.heads, valueWidth}};
    product.getY().replaceAllUsesWith(factors.arrange(builder, loc, result, resultDims));
    product.erase();
  }

private:
  bool fail(const Twine &why) {
    if (problem.empty())
      problem = why.str();
    return false;
  }

  /// Reads the product with its operand `side` as probabilities; false where that is no softmax.
  bool readProduct(graph::ContractOp product, unsigned side) {
    StringRef letters[] = {product.getLettersA(), product.getLettersB()}, y = product.getLettersY();
    llvm::SmallDenseMap<char, FactorList> lists;
    auto dimsOf = [&](StringRef word, Value value) {
      SmallVector<FactorList> dims;
      for (auto [letter, size] : llvm::zip_equal(word, typeOf(value).getShape())) {
        auto [it, isNew] = lists.try_emplace(letter);
        if (isNew)
          it->second = factors.make(size);
        dims.push_back(it->second);
      }
      return dims;
    };
    FactoredValue probabilities{product->getOperand(side), dimsOf(letters[side], product->getOperand(side))};
    if (!findSoftmax(probabilities))
      return false;
    values = {product->getOperand(1 - side), dimsOf(letters[1 - side], product->getOperand(1 - side))};
    resultDims = dimsOf(y, product.getY());
    FactorList summed;
    for (char letter : letters[side])
      if (!y.contains(letter))
        llvm::append_range(summed, lists[letter]);
    for (char letter : letters[1 - side])
      if (!letters[side].contains(letter))
        llvm::append_range(valueWidth, lists[letter]);
    softmaxDims = probabilities.dims;
    scores.key = softmaxDims.back();
    if (factors.expand(summed) != factors.expand(scores.key))
      fail("the product of probabilities and values does not sum over the dimension of the softmax");
    return true;
  }

  /// [dropout] [select(is_nan(p), 0, p)] softmax(scores).
  bool findSoftmax(FactoredValue &p) {
    while (true) {
      softmax = p.value.getDefiningOp<graph::SoftmaxOp>();
      if (softmax)
        return true;
      auto select = p.value.getDefiningOp<graph::SelectOp>();
      auto isNan = select ? select.getCondition().getDefiningOp<graph::IsNanOp>() : graph::IsNanOp();
      if (isNan && isNan.getX() == select.getB() && findSplat(select.getA()) == 0.0)
        p.value = select.getB();
      else if (std::optional<graph::DropoutMatch> drop =
                   select && !dropout ? graph::matchDropout(select) : std::nullopt)
        dropout.emplace(factors, FactoredValue{drop->words, p.dims}, drop->ratio), p.value = drop->x;
      else if (!factors.stepBack(p, /*mayRepeat=*/false))
        return false;
    }
  }

  //===--------------------------------------------------------------------===//
  // From the softmax to q and k
  //===--------------------------------------------------------------------===//

  bool matchScores() {
    if (!problem.empty())
      return false;
    while (factors.stepBack(values))
      ;
    FactoredValue value{softmax.getX(), softmaxDims};
    while (true) {
      if (auto product = value.value.getDefiningOp<graph::ContractOp>())
        return matchProduct(product, value.dims);
      if (peelFactor(value.value, scale) || peelMask(value) || factors.stepBack(value, /*mayRepeat=*/false))
        continue;
      Operation *op = value.value.getDefiningOp();
      if (!op)
        return fail("its scores are an input, not the result of a product");
      return fail("its scores are the result of " + op->getName().getStringRef() + ", not of a product");
    }
  }

  /// A mask that is added or selected, or a clamp to the lowest float.
  bool peelMask(FactoredValue &value) {
    Operation *op = value.value.getDefiningOp();
    if (op && op->hasTrait<graph::Sum>()) {
      bool isSub = isa<graph::SubOp>(op);
      unsigned side = isSub || leadsToProduct(op->getOperand(0)) ? 0 : 1;
      if (!leadsToProduct(op->getOperand(side)))
        return false;
      masks.push_back({{op->getOperand(1 - side), value.dims}, /*isAdded=*/true, true, isSub ? -scale : scale});
      value.value = op->getOperand(side);
      return true;
    }
    if (auto max = dyn_cast_or_null<graph::MaxOp>(op)) {
      for (unsigned i : {0u, 1u})
        if (findSplat(op->getOperand(i)).value_or(0) <= graph::kForbidden)
          return value.value = op->getOperand(1 - i), isClamped = true;
      return false;
    }
    auto select = dyn_cast_or_null<graph::SelectOp>(op);
    for (bool keeps : {true, false}) {
      std::optional<double> fill = select ? findSplat(keeps ? select.getB() : select.getA()) : std::nullopt;
      if (!fill || *fill * scale > kMasked)
        continue;
      masks.push_back({{select.getCondition(), value.dims}, /*isAdded=*/false, keeps, *fill * scale});
      value.value = keeps ? select.getA() : select.getB();
      return true;
    }
    return false;
  }

  bool matchProduct(graph::ContractOp product, ArrayRef<FactorList> dims) {
    StringRef letters[] = {product.getLettersA(), product.getLettersB()}, y = product.getLettersY();
    llvm::SmallDenseMap<char, FactorList> lists;
    for (auto [letter, list] : llvm::zip_equal(y, dims))
      lists[letter] = list;
    FactoredValue sides[2];
    for (unsigned side : {0u, 1u}) {
      sides[side].value = product->getOperand(side);
      for (auto [letter, size] : llvm::zip_equal(letters[side], typeOf(sides[side].value).getShape())) {
        auto [it, isNew] = lists.try_emplace(letter);
        if (isNew) {
          it->second = factors.make(size);
          llvm::append_range(width, it->second);
        }
        sides[side].dims.push_back(it->second);
      }
    }
    bool isFirst = hasAny(factors.flatten(sides[0]), scores.key);
    if (isFirst == hasAny(factors.flatten(sides[1]), scores.key) && factors.sizeOf(scores.key) != 1)
      return fail("both factors of its scores depend on the keys");
    queries = sides[isFirst ? 1 : 0], keys = sides[isFirst ? 0 : 1];
    for (FactoredValue *value : {&queries, &keys})
      while (peelFactor(value->value, scale) || factors.stepBack(*value))
        ;
    return scale > 0 || fail("its scores are multiplied by a factor that is not positive");
  }

  //===--------------------------------------------------------------------===//
  // What the factors are
  //===--------------------------------------------------------------------===//

  bool hasAny(ArrayRef<int> list, ArrayRef<int> parts) const {
    return llvm::any_of(factors.expand(parts),
                        [&](int part) { return llvm::is_contained(factors.expand(list), part); });
  }

  void classify() {
    ArrayRef<FactorList> dims = softmaxDims;
    FactorList inKeys = factors.flatten(keys);
    llvm::append_range(inKeys, factors.flatten(values));
    FactorList members, rows;
    scores.batch.clear(), groups.clear();
    for (auto [d, list] : llvm::enumerate(dims.drop_back()))
      for (int factor : factors.expand(list))
        if (llvm::is_contained(inKeys, factor))
          (d == 0 && scores.batch.empty() ? scores.batch : groups).push_back(factor);
        else
          (d + 2 == dims.size() ? rows : members).push_back(factor);
    scores.query = takeQuery(rows, members);
    llvm::append_range(members, rows);
    scores.heads = groups;
    llvm::append_range(scores.heads, members);
  }

  /// The factor that counts positions: the longest of the scores' rows, or of what else only queries have.
  FactorList takeQuery(FactorList &rows, FactorList &members) const {
    FactorList &from = rows.empty() ? members : rows;
    if (from.empty())
      return {};
    auto *longest = from.begin();
    for (auto *it = from.begin(); it != from.end(); ++it)
      if (factors.sizeOf({*it}) > factors.sizeOf({*longest}))
        longest = it;
    FactorList query{*longest};
    from.erase(longest);
    return query;
  }

  bool readMasks() {
    classify();
    mask.emplace(factors, scores, memory);
    for (const MaskStep &step : masks)
      if (step.isAdded)
        mask->readAdded(step.value, step.factor);
      else
        mask->readSelected(step.value, step.keeps, step.factor);
    return mask->getProblem().empty() || fail(mask->getProblem());
  }

  /// Its place among the values that are read is behind the masks: the factors are known then.
  bool readDropout() {
    return !dropout || dropout->read(scores) ||
           fail("its dropout does not draw random numbers for each element of the scores in row-major order");
  }

  MaskMemory &memory;
  FactorTable factors;
  graph::SoftmaxOp softmax;
  FactoredValue queries, keys, values;
  FactorList width, valueWidth, groups;
  SmallVector<FactorList> softmaxDims, resultDims;
  ScoreFactors scores;
  double scale = 1;
  bool isClamped = false; ///< max(score, lowest float): where the constant wins, no gradient reaches q and k
  SmallVector<MaskStep> masks;
  std::optional<AttentionMask> mask;
  std::optional<DroppedScores> dropout;
  std::string problem;
};

struct RaiseAttention : xlc::impl::RaiseAttentionPassBase<RaiseAttention> {
  void runOnOperation() override {
    SmallVector<graph::ContractOp> products;
    getOperation().walk([&](graph::ContractOp op) { products.push_back(op); });
    MaskMemory memory;
    bool hasFound = false;
    for (graph::ContractOp product : products)
      if (Matcher matcher(memory); matcher.match(product)) {
        matcher.raise(product);
        hasFound = true;
      }
    eraseDead(getOperation(), hasFound);
  }
};

} // namespace

SmallVector<UnraisedAttention> xlc::findUnraisedAttentions(func::FuncOp function) {
  SmallVector<UnraisedAttention> found;
  MaskMemory memory;
  function.walk([&](graph::ContractOp product) {
    Matcher matcher(memory);
    if (!matcher.match(product) && matcher.getSoftmax() && Matcher::leadsToProduct(matcher.getSoftmax().getX()))
      found.push_back({matcher.getSoftmax(), matcher.getProblem().str()});
  });
  return found;
}
