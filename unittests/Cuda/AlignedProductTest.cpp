// Parts of a product are the product: each element of y once, each term of its sum once, and extents that are whole groups of eight
// elements or what is left of them.
#include "xlc/Runtime/AlignedProduct.h"

#include <gtest/gtest.h>

#include <vector>

using namespace xlc::runtime;

namespace {

/// How often y[i, j] has the term k of its sum; rows of y are contiguous.
std::vector<int> countTerms(const ContractShape &whole) {
  AlignedProduct aligned(whole);
  std::vector<int> counts(whole.m * whole.n * whole.k);
  std::vector<bool> isWritten(whole.m * whole.n);
  int64_t yM = aligned.hasSums() ? whole.n : whole.yM;
  for (const ProductPart &part : aligned.parts())
    for (int64_t i = 0; i < part.shape.m; ++i)
      for (int64_t j = 0; j < part.shape.n; ++j) {
        int64_t y = part.y + i * part.shape.yM + j * part.shape.yN, row = y / yM, column = y % yM;
        EXPECT_EQ(part.adds, isWritten[row * whole.n + column]);
        EXPECT_EQ(column, part.bias + j);
        isWritten[row * whole.n + column] = true;
        for (int64_t k = 0; k < part.shape.k; ++k) {
          int64_t a = part.a + i * part.shape.aM + k * part.shape.aK,
                  b = part.b + j * part.shape.bN + k * part.shape.bK;
          int64_t term = (b - column * whole.bN) / whole.bK;
          EXPECT_EQ(b, term * whole.bK + column * whole.bN);
          EXPECT_EQ(a, row * whole.aM + term * whole.aK);
          ++counts[(row * whole.n + column) * whole.k + term];
        }
      }
  return counts;
}

void expectWhole(const ContractShape &shape, size_t parts, bool hasSums) {
  AlignedProduct aligned(shape);
  ASSERT_EQ(aligned.parts().size(), parts);
  EXPECT_EQ(aligned.hasSums(), hasSums);
  EXPECT_EQ(aligned.sumBytes(), hasSums ? (shape.m * shape.n * 4 + 255) / 256 * 256 : 0);
  for (int count : countTerms(shape))
    ASSERT_EQ(count, 1);
  for (const ProductPart &part : aligned.parts())
    for (int64_t size : {part.shape.m, part.shape.n, part.shape.k})
      EXPECT_TRUE(parts == 1 || size % 8 == 0 || size < 8) << size;
}

constexpr FloatType bf16 = FloatType::BF16, f32 = FloatType::F32;

/// The three of a head of 1029 words, of which rows of logits are 1088 elements apart.
TEST(AlignedProduct, CutsWhatIsContiguousAlongAnOddExtent) {
  expectWhole({2, 1029, 8, 8, 1, 1, 8, 1088, 1, {}, {}, bf16, bf16}, 2, false); // logits = h wᵀ
  expectWhole({1029, 8, 3, 1, 1088, 8, 1, 8, 1, {}, {}, bf16, f32}, 2, false);  // dw = dlogitsᵀ h
  expectWhole({2, 8, 1029, 1088, 1, 8, 1, 8, 1, {}, {}, bf16, bf16}, 2, true);  // dh = dlogits w
  expectWhole({2, 8, 1029, 1088, 1, 8, 1, 8, 1, {}, {}, bf16, f32}, 2, false);  // in f32 the sum is y itself
  expectWhole({2, 1029, 8, 8, 1, 1, 8, 1088, 1, {}, {.bias = true}, bf16, bf16}, 2, false); // with a bias
}

TEST(AlignedProduct, CutsInAllDirections) {
  expectWhole({1025, 1027, 8, 1, 1032, 1032, 1, 1032, 1, {}, {}, bf16, f32}, 4, false);
}

TEST(AlignedProduct, LeavesOthersWhole) {
  expectWhole({2, 1024, 8, 8, 1, 1, 8, 1024, 1, {}, {}, bf16, bf16}, 1, false); // whole groups
  expectWhole({2, 1029, 8, 8, 1, 1, 8, 1029, 1, {}, {}, bf16, bf16}, 1, false); // rows that are not aligned anyway
  expectWhole({2, 1029, 8, 8, 1, 1, 8, 1088, 1, {}, {}, f32, f32}, 1, false);
  expectWhole({2, 30, 8, 8, 1, 1, 8, 32, 1, {}, {}, bf16, bf16}, 1, false); // short
  expectWhole({2, 8, 1029, 1088, 1, 8, 1, 8, 1, {}, {.bias = true}, bf16, bf16}, 1, false);
  ContractShape batched{2, 1029, 8, 8, 1, 1, 8, 1088, 1, {{2, 16, 0, 2176}}, {}, bf16, bf16};
  EXPECT_EQ(AlignedProduct(batched).parts().size(), 1U);
}

} // namespace
