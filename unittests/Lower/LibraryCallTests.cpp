// Einsums on strided memory against the matrix product they are said to be: both are evaluated, on numbers.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Kernels/LibraryCalls.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;

namespace {

using Sizes = SmallVector<int64_t>;

/// An einsum; strides empty: contiguous.
struct Einsum {
  std::string letters;
  Sizes a, b, y;
  Sizes stridesA = {}, stridesB = {}, stridesY = {};
  bool bias = false;
};

Sizes contiguous(ArrayRef<int64_t> shape) {
  Sizes strides(shape.size(), 1);
  for (int64_t i = (int64_t)shape.size() - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

struct Fixture {
  MLIRContext context;
  OpBuilder builder{&context};
  OwningOpRef<ModuleOp> module{ModuleOp::create(builder.getUnknownLoc())};

  std::optional<LibraryContract> find(const Einsum &e) {
    context.loadDialect<graph::GraphDialect, func::FuncDialect>();
    builder.setInsertionPointToEnd(module->getBody());
    auto tensor = [&](const Sizes &shape) { return RankedTensorType::get(shape, builder.getF32Type()); };
    auto memory = [&](const Sizes &shape, const Sizes &strides) {
      auto layout = StridedLayoutAttr::get(&context, 0, strides.empty() ? contiguous(shape) : strides);
      return MemRefType::get(shape, builder.getF32Type(), layout);
    };
    auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), "k",
                                         builder.getFunctionType({tensor(e.a), tensor(e.b)}, {}));
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToEnd(body);
    auto op = graph::ContractOp::create(builder, builder.getUnknownLoc(), tensor(e.y), e.letters, body->getArgument(0),
                                        body->getArgument(1));
    return findContractShape(op, memory(e.a, e.stridesA), memory(e.b, e.stridesB), memory(e.y, e.stridesY),
                             {.bias = e.bias});
  }
};

/// Adds a[..] b[..] of every combination of letters to y, addresses by strides: the definition.
void evaluate(const Einsum &e, std::vector<double> &a, std::vector<double> &b, std::vector<double> &y) {
  StringRef spec = e.letters;
  auto [lettersA, rest] = spec.split(',');
  auto [lettersB, lettersY] = rest.split("->");
  llvm::MapVector<char, int64_t> sizes;
  for (auto [c, size] : llvm::zip(lettersA, e.a))
    sizes[c] = size;
  for (auto [c, size] : llvm::zip(lettersB, e.b))
    sizes[c] = size;
  int64_t total = 1;
  for (auto [c, size] : sizes)
    total *= size;
  for (int64_t i = 0; i < total; ++i) {
    llvm::DenseMap<char, int64_t> at;
    int64_t left = i;
    for (auto [c, size] : sizes)
      at[c] = left % size, left /= size;
    auto address = [&](StringRef letters, const Sizes &shape, const Sizes &strides) {
      int64_t sum = 0;
      for (auto [c, stride] : llvm::zip(letters, strides.empty() ? contiguous(shape) : strides))
        sum += at[c] * stride;
      return sum;
    };
    y[address(lettersY, e.y, e.stridesY)] +=
        a[address(lettersA, e.a, e.stridesA)] * b[address(lettersB, e.b, e.stridesB)];
  }
}

/// The same by what the library would do.
void evaluate(const runtime::ContractShape &s, std::vector<double> &a, std::vector<double> &b, std::vector<double> &y) {
  int64_t batches = 1;
  for (auto &batch : s.batch)
    batches *= batch.size;
  for (int64_t i = 0; i < batches; ++i) {
    int64_t rest = i, atA = 0, atB = 0, atY = 0;
    for (auto &batch : s.batch) {
      int64_t at = rest % batch.size;
      rest /= batch.size;
      atA += at * batch.a, atB += at * batch.b, atY += at * batch.y;
    }
    for (int64_t m = 0; m < s.m; ++m)
      for (int64_t n = 0; n < s.n; ++n)
        for (int64_t k = 0; k < s.k; ++k)
          y[atY + m * s.yM + n * s.yN] += a[atA + m * s.aM + k * s.aK] * b[atB + k * s.bK + n * s.bN];
  }
}

void expectEqual(const Einsum &e) {
  Fixture fixture;
  auto found = fixture.find(e);
  ASSERT_TRUE(found) << e.letters;
  std::vector<double> a(4096), b(4096), expected(4096), actual(4096);
  for (int i = 0; i < 4096; ++i)
    a[i] = i % 17 - 8, b[i] = i % 13 - 6;
  evaluate(e, a, b, expected);
  evaluate(found->shape, found->swapped ? b : a, found->swapped ? a : b, actual);
  EXPECT_EQ(actual, expected) << e.letters;
}

TEST(Contract, ForwardAndBothGradientsOfALinearLayer) {
  expectEqual({"bsh,ho->bso", {2, 3, 4}, {4, 5}, {2, 3, 5}});
  expectEqual({"bso,ho->bsh", {2, 3, 5}, {4, 5}, {2, 3, 4}});
  expectEqual({"bsh,bso->ho", {2, 3, 4}, {2, 3, 5}, {4, 5}});
  expectEqual({"bsh,bso->oh", {2, 3, 4}, {2, 3, 5}, {5, 4}});
}

TEST(Contract, SeveralLettersAreOneDimension) {
  Fixture fixture;
  auto found = fixture.find({"bsh,hnd->bsnd", {2, 3, 4}, {4, 5, 6}, {2, 3, 5, 6}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shape.m, 6);
  EXPECT_EQ(found->shape.n, 30);
  EXPECT_TRUE(found->shape.batch.empty());
}

TEST(Contract, OfSeveralDimensionsTheContiguousOneIsKept) {
  Fixture fixture;
  Einsum ofEach{"mk,bkn->bmn", {2, 2}, {9, 2, 4}, {9, 2, 4}};
  auto found = fixture.find(ofEach);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shape.n, 4) << "and not the longer 9";
  EXPECT_EQ(found->shape.yN, 1);
  expectEqual(ofEach);
  Einsum ofOne{"pkq,knj->pnqj", {5, 3, 4}, {3, 2, 1}, {5, 2, 4, 1}};
  found = fixture.find(ofOne);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shape.m, 4) << "since the last letter of y has one element";
  EXPECT_EQ(found->shape.yM, 1);
  expectEqual(ofOne);
}

TEST(Contract, BatchesAndStridedHeads) {
  expectEqual({"bqhd,bkhd->bhqk", {2, 3, 2, 4}, {2, 5, 2, 4}, {2, 2, 3, 5}});
  // Heads of a fused qkv of [2, 3, 3 * 2 * 4].
  expectEqual({"bqhd,bkhd->bhqk", {2, 3, 2, 4}, {2, 3, 2, 4}, {2, 2, 3, 3}, {72, 24, 4, 1}, {72, 24, 4, 1}});
  // Rows of x are apart: s and b do not make one dimension, b becomes a batch.
  expectEqual({"bsh,ho->bso", {2, 3, 4}, {4, 5}, {2, 3, 5}, {100, 4, 1}});
}

TEST(Contract, MissingAndShortDimensions) {
  expectEqual({"k,k->", {7}, {7}, {}});
  expectEqual({"m,n->mn", {3}, {4}, {3, 4}});
  expectEqual({"mk,kn->mn", {1, 7}, {7, 1}, {1, 1}});
}

TEST(Contract, BiasLiesAlongN) {
  Fixture fixture;
  auto found = fixture.find({"oh,bsh->bso", {5, 4}, {2, 3, 4}, {2, 3, 5}, {}, {}, {}, /*bias=*/true});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->shape.epilogue.bias);
  EXPECT_EQ(found->shape.n, 5);
  auto split = fixture.find({"bsh,hnd->bsnd", {2, 3, 4}, {4, 5, 6}, {2, 3, 5, 6}, {}, {}, {}, /*bias=*/true});
  ASSERT_TRUE(split);
  EXPECT_EQ(split->shape.n, 6) << "the bias is of the last dimension only";
  EXPECT_EQ(split->shape.batch.size(), 1u);
}

TEST(Contract, SummedLettersThatDoNotJoinAreRefused) {
  Fixture fixture;
  EXPECT_FALSE(fixture.find({"bsh,bso->ho", {2, 3, 4}, {2, 3, 5}, {4, 5}, {100, 4, 1}, {200, 5, 1}}));
}

} // namespace
