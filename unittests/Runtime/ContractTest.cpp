// Contractions against three nested loops, over sizes around the tile edges, all orders of strides, and thread counts.
#include "Cpu/Contract.h"
#include "Cpu/LibraryProduct.h"
#include "Cpu/Product.h"
#include "RandomFloats.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace xlc::runtime;
using xlc::test::randomFloats;

namespace {

/// Largest difference to the naive product when `threads` parts do the call.
double findError(const ContractShape &s, int threads, bool accumulate) {
  int64_t batches = s.batch.empty() ? 1 : s.batch[0].size;
  ContractShape::Batch step = s.batch.empty() ? ContractShape::Batch{1, 0, 0, 0} : s.batch[0];
  auto span = [&](int64_t a, int64_t sa, int64_t b, int64_t sb, int64_t sBatch) {
    return (a - 1) * sa + (b - 1) * sb + (batches - 1) * sBatch + 1;
  };
  auto a = randomFloats(span(s.m, s.aM, s.k, s.aK, step.a), 1), b = randomFloats(span(s.k, s.bK, s.n, s.bN, step.b), 2);
  auto bias = randomFloats(s.n, 3), y = randomFloats(span(s.m, s.yM, s.n, s.yN, step.y), 4), before = y;
  Contraction contraction(s, threads, accumulate);
  EXPECT_LE(contraction.scratch() * contraction.parts(), contractWorkspace(s, threads));
  std::vector<char> memory(contraction.scratch() * contraction.parts() + 64);
  char *scratch = (char *)(((uintptr_t)memory.data() + 63) / 64 * 64);
  for (int part = 0; part < contraction.parts(); ++part)
    contraction.run(part, a.data(), b.data(), s.bias ? bias.data() : nullptr, y.data(),
                    scratch + part * contraction.scratch());
  double worst = 0;
  for (int64_t t = 0; t < batches; ++t)
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        int64_t at = t * step.y + i * s.yM + j * s.yN;
        double sum = (accumulate ? before[at] : 0) + (s.bias ? bias[j] : 0);
        for (int64_t p = 0; p < s.k; ++p)
          sum += (double)a[t * step.a + i * s.aM + p * s.aK] * b[t * step.b + p * s.bK + j * s.bN];
        worst = std::max(worst, std::abs(sum - y[at]) / std::sqrt((double)s.k));
      }
  return worst;
}

TEST(Contract, EqualsTheNaiveProductInEveryStrideOrder) {
  for (int64_t m : {1, 3, 14, 37, 130})
    for (int64_t n : {1, 7, 16, 33, 96})
      for (int64_t k : {1, 5, 64, 300})
        for (int order = 0; order < 8; ++order)
          for (int64_t gap : {0, 3}) {
            ContractShape s{};
            s.m = m, s.n = n, s.k = k, s.bias = order % 3 == 1;
            s.aM = order & 1 ? 1 : k + gap, s.aK = order & 1 ? m + gap : 1;
            s.bK = order & 2 ? 1 : n + gap, s.bN = order & 2 ? k + gap : 1;
            s.yM = order & 4 ? 1 : n + gap, s.yN = order & 4 ? m + gap : 1;
            ASSERT_LT(findError(s, 1 + (order + m) % 3, (m + n + order) % 2), 2e-6)
                << m << " " << n << " " << k << " order " << order << " gap " << gap;
          }
}

TEST(Contract, LargeContractionsEqualTheNaiveProduct) {
  for (int order = 0; order < 8; ++order) {
    int64_t m = 300, n = 270, k = 260;
    ContractShape s{};
    s.m = m, s.n = n, s.k = k, s.bias = order % 2;
    s.aM = order & 1 ? 1 : k, s.aK = order & 1 ? m : 1;
    s.bK = order & 2 ? 1 : n, s.bN = order & 2 ? k : 1;
    s.yM = order & 4 ? 1 : n, s.yN = order & 4 ? m : 1;
    ASSERT_LT(findError(s, 1 + order % 2, order % 4 == 3), 2e-6) << "order " << order;
  }
}

/// The bound is what oneDNN's one long sum of 256 terms exceeds twice.
TEST(Contract, SmallContractionsRoundLessThanOneLongSum) {
  ContractShape s{};
  s.m = 128, s.n = 128, s.k = 256, s.aM = 256, s.aK = 1, s.bK = 128, s.bN = 1, s.yM = 128, s.yN = 1;
  ASSERT_LT(findError(s, 1, false), 3e-7);
}

/// Sums stay below 32, where half a unit in the last place is 9.5e-7: a sixteenth of it, as 256 is the depth.
TEST(Contract, SmallerContractionsRoundOnce) {
  ContractShape s{};
  s.m = 61, s.n = 67, s.k = 256, s.aM = 256, s.aK = 1, s.bK = 67, s.bN = 1, s.yM = 67, s.yN = 1;
  ASSERT_LT(findError(s, 1, false), 6.1e-8);
  ASSERT_LT(findError(s, 2, true), 1.3e-7) << "once more where it is added";
}

TEST(Contract, RunsBatchesAndOutputsWithoutContiguousDimension) {
  for (int threads : {1, 2, 3, 8})
    for (int64_t batches : {1, 2, 5, 9}) {
      ContractShape s{20, 40, 33, 33, 1, 40, 1, 80, 2, {{batches, 20 * 33, 0, 20 * 80}}, true};
      ASSERT_LT(findError(s, threads, false), 2e-6);
      ASSERT_LT(findError(s, threads, true), 2e-6);
    }
}

TEST(Contract, OurProductHasTheSameBitsForEveryCut) {
  // The column slices that two and three threads take, against the whole.
  ProductShape whole{70, 200, 333, 333, 1, 200, 1, 200, 1};
  auto a = randomFloats(70 * 333, 1), b = randomFloats(333 * 200, 2);
  std::vector<float> expected(70 * 200), actual(70 * 200);
  std::vector<char> scratch(productWorkspace(whole));
  multiply(whole, a.data(), b.data(), expected.data(), false, scratch.data());
  for (int64_t width : {1, 32, 64, 100}) {
    for (int64_t j = 0; j < 200; j += width) {
      ProductShape part = whole;
      part.n = std::min<int64_t>(width, 200 - j);
      multiply(part, a.data(), b.data() + j, actual.data() + j, false, scratch.data());
    }
    EXPECT_EQ(expected, actual) << width;
  }
}

} // namespace
