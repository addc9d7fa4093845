// Products of bf16 piece by piece against loops in double: pieces of all and of few terms, rows of the left operand
// contiguous, with gaps, and by columns.
#include "Cpu/PackedProduct.h"
#include "Cpu/Vector.h"
#include "Elements.h"
#include "RandomFloats.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

class PackedProducts : public testing::Test {
protected:
  void SetUp() override {
    if (!multipliesBf16())
      GTEST_SKIP() << "this processor has no products of bf16";
  }
};

/// Packs and multiplies all pieces.
void runPieces(const ProductShape &s, int64_t terms, bool add, Elements &a, Elements &b, const void *bias,
               Elements &c) {
  auto product = PackedProduct::tryMake(s, terms, bias != nullptr, add, true);
  ASSERT_TRUE(product);
  std::vector<Bf16> blocks(blockedElements(terms, s.n));
  std::vector<char> memory(product->scratch() + 64);
  char *scratch = (char *)(((uintptr_t)memory.data() + 63) / 64 * 64);
  for (int64_t begin = 0; begin < s.k; begin += terms) {
    packBlocks((const Bf16 *)b.data() + begin * s.bK, s.bK, s.bN, std::min(terms, s.k - begin), 0, s.n, blocks.data());
    product->run(begin / terms, a.data(), blocks.data(), bias, c.data(), scratch);
  }
}

void expectSums(const ProductShape &s, int64_t terms, bool add) {
  bool hasBias = s.result != FloatType::F32 && terms >= s.k;
  Elements a(s.operands, randomFloats(s.m * s.aM + s.k * s.aK, 1)), b(s.operands, randomFloats(s.k * s.bK, 2));
  Elements bias(s.result, randomFloats(s.n, 3)), c(s.result, randomFloats(s.m * s.n, 4));
  std::vector<float> before = c.floats();
  runPieces(s, terms, add, a, b, hasBias ? bias.data() : nullptr, c);
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = (add ? before[i * s.n + j] : 0) + (hasBias ? bias[j] : 0);
      for (int64_t p = 0; p < s.k; ++p)
        sum += (double)a[i * s.aM + p * s.aK] * b[p * s.bK + j * s.bN];
      ASSERT_LT(errorBeyondRounding(s.result, sum, c[i * s.n + j]), 2e-6 * std::sqrt((double)s.k)) << i << " " << j;
    }
}

TEST_F(PackedProducts, EqualTheSumsInDouble) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{70, 65, 150}, {33, 20, 131}})
    for (int64_t terms : {int64_t(32), int64_t(64), int64_t(96), k}) // of 5 pieces, of 3, of 2, and of all
      for (int64_t gap : {0, 3})
        for (bool isByColumns : {false, true})
          for (FloatType result : {FloatType::F32, FloatType::BF16})
            for (bool add : {false, true}) {
              if (add && result != FloatType::F32)
                continue;
              ProductShape s{m, n, k, k + gap, 1, n, 1, n, 1};
              if (isByColumns)
                s.aM = 1, s.aK = m + gap;
              s.operands = FloatType::BF16, s.result = result;
              SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << " by " << terms << ", gap " << gap
                                              << ", by columns " << isByColumns << ", " << nameOf(result));
              expectSums(s, terms, add);
              if (HasFatalFailure())
                return;
            }
}

/// All of a right operand that stays in the cache, some terms of a deep one, none of a wide one.
TEST_F(PackedProducts, PackWhatStaysInTheCache) {
  auto termsOf = [](int64_t m, int64_t n, int64_t k, bool bias) {
    ProductShape s{m, n, k, k, 1, n, 1, n, 1};
    s.operands = s.result = FloatType::BF16;
    return packedTerms(s, bias);
  };
  EXPECT_EQ(termsOf(1024, 3072, 768, true), 768);
  EXPECT_EQ(termsOf(1024, 768, 50257, false), 2048);
  EXPECT_EQ(termsOf(1024, 768, 50257, true), 0) << "a bias is added before rounding, by oneDNN alone";
  EXPECT_EQ(termsOf(1 << 20, 768, 50257, false), 0) << "sums aside would be large";
  EXPECT_EQ(termsOf(1024, 50257, 768, false), 0);
}

} // namespace
