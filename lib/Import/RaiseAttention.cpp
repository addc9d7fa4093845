// Recognises attention after its result, whatever order of dimensions the exporter chose.
//
//     contract(q, k) ─► * scale ─► + mask ─► softmax ─► guard against NaN ─► contract with v
//
// Each contraction names its dimensions, so "which one is the head" is read off the letters: scores
// are [batch, head, query, key] by position; whatever letter both q and k have and the scores have not is the
// width. Transposes between are folded into the letters on the way.
#include "MatchValues.h"
#include "mlir/Transforms/RegionUtils.h"
#include "xlc/Import/Passes.h"

using namespace mlir;
using namespace xlc;

namespace xlc {
#define GEN_PASS_DEF_RAISEATTENTIONPASS
#include "xlc/Import/Passes.h.inc"
} // namespace xlc

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// An operand of a contraction with one letter per dimension.
struct Lettered {
  Value value;
  std::string letters;

  bool has(char letter) const { return letters.find(letter) != std::string::npos; }
  int64_t size(char letter) const { return typeOf(value).getDimSize((int64_t)letters.find(letter)); }
};

/// Walks back over transposes and constant factors.
void peel(Lettered &operand, double &factor) {
  while (true) {
    if (auto transpose = operand.value.getDefiningOp<graph::TransposeOp>()) {
      std::string before = operand.letters;
      for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
        operand.letters[from] = before[to];
      operand.value = transpose.getX();
    } else if (!peelFactor(operand.value, factor)) {
      return;
    }
  }
}

/// The pieces of an attention; letters of q, k and v as below.
struct Attention {
  Lettered q, k, v, out;
  double scale = 1;
  graph::Mask mask = graph::Mask::none;
  // By position in the scores: [batch, head, query, key]; `width` of q and k, `valueWidth` of v.
  char batch, head, query, key, width, valueWidth;
};

class Matcher {
public:
  std::optional<Attention> match(graph::ContractOp product) {
    for (bool swaps : {false, true}) {
      Lettered probabilities{swaps ? product.getB() : product.getA(),
                             (swaps ? product.getLettersB() : product.getLettersA()).str()};
      Lettered values{swaps ? product.getA() : product.getB(),
                      (swaps ? product.getLettersA() : product.getLettersB()).str()};
      if (matchProbabilities(probabilities) && matchValues(probabilities, values, product))
        return found;
    }
    return std::nullopt;
  }

private:
  /// [select(is_nan(p), 0, p)] softmax(scores).
  bool matchProbabilities(Lettered operand) {
    Value value = operand.value;
    if (auto select = value.getDefiningOp<graph::SelectOp>()) {
      auto isNan = select.getCondition().getDefiningOp<graph::IsNanOp>();
      if (!isNan || isNan.getX() != select.getB() || findSplat(select.getA()) != 0.0)
        return false;
      value = select.getB();
    }
    auto softmax = value.getDefiningOp<graph::SoftmaxOp>();
    return softmax && typeOf(value).getRank() == 4 && matchScores(softmax.getX());
  }

  bool matchScores(Value scores) {
    int64_t queries = typeOf(scores).getDimSize(2), keys = typeOf(scores).getDimSize(3);
    found = Attention();
    if (std::optional<graph::Mask> mask = peelMask(scores, queries, keys))
      found.mask = *mask;
    while (peelFactor(scores, found.scale))
      ;
    auto product = scores.getDefiningOp<graph::ContractOp>();
    if (!product || product.getLettersY().size() != 4)
      return false;
    StringRef y = product.getLettersY();
    found.batch = y[0], found.head = y[1], found.query = y[2], found.key = y[3];
    found.q = {product.getA(), product.getLettersA().str()};
    found.k = {product.getB(), product.getLettersB().str()};
    if (!found.q.has(found.query))
      std::swap(found.q, found.k);
    return matchQueriesAndKeys();
  }

  bool matchQueriesAndKeys() {
    const Lettered &q = found.q, &k = found.k;
    if (q.letters.size() != 4 || k.letters.size() != 4 || !q.has(found.query) || !k.has(found.key) ||
        q.has(found.key) || k.has(found.query))
      return false;
    for (char shared : {found.batch, found.head})
      if (!q.has(shared) || !k.has(shared))
        return false;
    for (char letter : q.letters)
      if (letter != found.batch && letter != found.head && letter != found.query)
        found.width = letter;
    peel(found.q, found.scale);
    peel(found.k, found.scale);
    return k.has(found.width);
  }

  /// scores + mask, or a selection between scores and a very negative number. Moves on to the scores.
  static std::optional<graph::Mask> peelMask(Value &scores, int64_t queries, int64_t keys) {
    if (auto add = scores.getDefiningOp<graph::AddOp>()) {
      for (auto [mask, other] : {std::pair(add.getA(), add.getB()), std::pair(add.getB(), add.getA())})
        if (std::optional<graph::Mask> kind = findAdditiveMask(mask, queries, keys)) {
          scores = other;
          return kind;
        }
      return std::nullopt;
    }
    auto select = scores.getDefiningOp<graph::SelectOp>();
    if (!select)
      return std::nullopt;
    for (bool keeps : {true, false}) {
      std::optional<double> otherwise = findSplat(keeps ? select.getB() : select.getA());
      std::optional<graph::Mask> kind = findBooleanMask(select.getCondition(), queries, keys, keeps);
      if (kind && otherwise && *otherwise <= -1e4) {
        scores = keeps ? select.getA() : select.getB();
        return kind;
      }
    }
    return std::nullopt;
  }

  /// The letters of the second product, against those of the scores by position.
  bool matchValues(const Lettered &probabilities, Lettered values, graph::ContractOp product) {
    StringRef p = probabilities.letters, y = product.getLettersY();
    if (p.size() != 4 || values.letters.size() != 4 || y.size() != 4 || y.contains(p[3]) || !y.contains(p[2]) ||
        !values.has(p[0]) || !values.has(p[1]) || !values.has(p[3]) || values.has(p[2]))
      return false;
    const char to[] = {found.batch, found.head, found.query, found.key};
    found.valueWidth = '*';
    auto rename = [&](StringRef letters) {
      std::string result;
      for (char letter : letters) {
        size_t place = p.find(letter);
        result += place == StringRef::npos ? '*' : to[place];
      }
      return result;
    };
    found.v = {values.value, rename(values.letters)};
    found.out = {product.getY(), rename(y)};
    double factor = 1; // a factor of v is one of the result; leave it where it is
    Lettered bare = found.v;
    peel(bare, factor);
    if (factor == 1)
      found.v = bare;
    return found.out.has(found.valueWidth);
  }

  Attention found;
};

/// `operand` with its dimensions in the order of `letters`.
Value arrange(OpBuilder &builder, Location loc, const Lettered &operand, StringRef letters) {
  SmallVector<int64_t> permutation, shape;
  for (char letter : letters) {
    permutation.push_back((int64_t)operand.letters.find(letter));
    shape.push_back(typeOf(operand.value).getDimSize(permutation.back()));
  }
  if (operand.letters == letters)
    return operand.value;
  return graph::TransposeOp::create(builder, loc, typeOf(operand.value).clone(shape), operand.value, permutation);
}

void raise(graph::ContractOp product, const Attention &found) {
  OpBuilder builder(product);
  Location loc = product.getLoc();
  Value q = arrange(builder, loc, found.q, {std::string{found.batch, found.query, found.head, found.width}});
  Value k = arrange(builder, loc, found.k, {std::string{found.batch, found.key, found.head, found.width}});
  Value v = arrange(builder, loc, found.v, {std::string{found.batch, found.key, found.head, found.valueWidth}});
  int64_t batch = typeOf(q).getDimSize(0), queries = typeOf(q).getDimSize(1), heads = typeOf(q).getDimSize(2);
  auto out = typeOf(q).clone({batch, queries, heads, typeOf(v).getDimSize(3)});
  auto lse = RankedTensorType::get({batch, heads, queries}, builder.getF64Type());
  auto attention =
      graph::AttentionOp::create(builder, loc, TypeRange{out, lse}, found.mask, q, k, v, llvm::APFloat(found.scale));
  Lettered result{attention.getOut(), {found.batch, found.query, found.head, found.valueWidth}};
  product.getY().replaceAllUsesWith(arrange(builder, loc, result, found.out.letters));
  product.erase();
}

struct RaiseAttention : xlc::impl::RaiseAttentionPassBase<RaiseAttention> {
  void runOnOperation() override {
    SmallVector<graph::ContractOp> products;
    getOperation().walk([&](graph::ContractOp op) { products.push_back(op); });
    for (graph::ContractOp product : products)
      if (std::optional<Attention> found = Matcher().match(product))
        raise(product, *found);
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};

} // namespace
