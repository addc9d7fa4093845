// Matches contractions to the library's products. An einsum letter occurs in two or three of (a, b, y), which makes it
//
//     in a, b, y: batch      in a, y: m      in b, y: n      in a, b: k
//
// Each letter is a factor with a size and a stride in each operand (0 where absent). Two factors of a group are one
// longer factor if, in every operand, the outer one's stride is the inner one's extent. If m or n has more than one
// factor left, the others move to the batch, where the operand without the factor has stride 0.
#include "CallMemory.h"

using namespace mlir;
using namespace xlc;

namespace {

struct Factor {
  int64_t size, a, b, y;
};
using Factors = SmallVector<Factor, 4>;

/// Joins neighbouring factors; outermost first, by the strides in y, then in a.
Factors mergeFactors(Factors factors) {
  llvm::sort(factors, [](const Factor &p, const Factor &q) {
    return std::tuple(std::abs(p.y), std::abs(p.a), p.size) > std::tuple(std::abs(q.y), std::abs(q.a), q.size);
  });
  Factors merged;
  for (const Factor &inner : factors) {
    Factor *outer = merged.empty() ? nullptr : &merged.back();
    if (outer && outer->a == inner.size * inner.a && outer->b == inner.size * inner.b &&
        outer->y == inner.size * inner.y)
      *outer = {outer->size * inner.size, inner.a, inner.b, inner.y};
    else
      merged.push_back(inner);
  }
  return merged;
}

/// The factor of a group along which y is contiguous, else the longest; the others go to the batch.
Factor takeFactor(Factors factors, Factors &batch) {
  if (factors.empty())
    return {1, 1, 1, 1};
  auto weight = [](const Factor &factor) { return std::pair(factor.y == 1, factor.size); };
  auto *taken = llvm::max_element(factors, [&](const Factor &p, const Factor &q) { return weight(p) < weight(q); });
  Factor result = *taken;
  factors.erase(taken);
  llvm::append_range(batch, factors);
  return result;
}

/// Letters and strides of one of (a, b, y).
struct Side {
  StringRef letters;
  SmallVector<int64_t> strides;

  bool has(char c) const { return letters.contains(c); }
  int64_t stride(char c) const { return has(c) ? strides[letters.find(c)] : 0; }
};

struct Groups {
  Factors batch, m, n, k;
};

/// With a bias, n is the letter of y's last dimension alone.
Groups groupLetters(const Side &a, const Side &b, const Side &y, const llvm::MapVector<char, int64_t> &sizes,
                    bool bias) {
  Groups groups;
  for (auto [c, size] : sizes) {
    if (size == 1)
      continue;
    bool biased = bias && c != y.letters.back();
    Factors &group = !y.has(c)              ? groups.k
                     : a.has(c) && b.has(c) ? groups.batch
                     : a.has(c)             ? groups.m
                     : biased               ? groups.batch
                                            : groups.n;
    group.push_back({size, a.stride(c), b.stride(c), y.stride(c)});
  }
  return groups;
}

} // namespace

std::optional<LibraryContract> xlc::findContractShape(graph::ContractOp op, MemRefType memoryA, MemRefType memoryB,
                                                      MemRefType memoryY, runtime::Epilogue epilogue) {
  std::optional<runtime::FloatType> operands = floatOf(memoryA), made = floatOf(memoryY);
  constexpr auto f32 = runtime::FloatType::F32;
  bool bias = epilogue.bias, isWhole = !bias && !epilogue.hasBeside();
  if (!operands || floatOf(memoryB) != operands || (made != f32 && made != operands) || (!isWhole && made != operands))
    return std::nullopt;
  Side a{op.getLettersA(), stridesOf(memoryA)}, b{op.getLettersB(), stridesOf(memoryB)};
  Side y{op.getLettersY(), stridesOf(memoryY)};
  llvm::MapVector<char, int64_t> sizes;
  for (auto [side, value] : {std::pair(&y, op.getY()), std::pair(&a, op.getA())})
    for (auto [c, size] : llvm::zip_equal(side->letters, cast<ShapedType>(value.getType()).getShape()))
      sizes.insert({c, size});

  // The last letter of y belongs along n: a bias lies there, and so does y's contiguous dimension.
  LibraryContract result;
  result.swapped = !y.letters.empty() && !b.has(y.letters.back());
  if (result.swapped)
    std::swap(a, b);
  if (bias && (y.letters.empty() || a.has(y.letters.back())))
    return std::nullopt;
  Groups groups = groupLetters(a, b, y, sizes, bias);
  Factors k = mergeFactors(groups.k);
  if (k.size() > 1)
    return std::nullopt;
  Factors batch = groups.batch;
  Factor m = takeFactor(mergeFactors(groups.m), batch), n = takeFactor(mergeFactors(groups.n), batch);
  Factor depth = k.empty() ? Factor{1, 1, 1, 1} : k.front();
  auto &shape = result.shape;
  shape.m = m.size, shape.n = n.size, shape.k = depth.size;
  shape.aM = m.a, shape.aK = depth.a, shape.bK = depth.b, shape.bN = n.b, shape.yM = m.y, shape.yN = n.y;
  for (const Factor &factor : mergeFactors(batch))
    shape.batch.push_back({factor.size, factor.a, factor.b, factor.y});
  shape.epilogue = epilogue;
  shape.operands = *operands, shape.result = *made;
  return result;
}
