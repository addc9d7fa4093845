// Products of bf16, if the processor supports them, against loops in double: sizes around the tile edges, odd depths,
// and gaps between rows and columns.
#include "Cpu/Bf16Product.h"
#include "Cpu/Vector.h"
#include "Elements.h"
#include "RandomFloats.h"
#include "xlc/Runtime/CpuLevel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

/// c[m, n] = a[m, k] b[k, n]; between rows of a, and between columns of b, stands what is not to be read.
struct Product {
  int64_t m, n, k, gap = 0;
  std::vector<float> a, b;

  int64_t step() const { return k + gap; }
  float &atA(int64_t i, int64_t p) { return a[i * step() + p]; }
  float &atB(int64_t p, int64_t j) { return b[j * step() + p]; }

  /// Numbers of bf16.
  void draw() {
    a = Elements(FloatType::BF16, randomFloats(m * step(), 1)).floats();
    b = Elements(FloatType::BF16, randomFloats(n * step(), 2)).floats();
    for (auto *values : {&a, &b})
      for (size_t i = 0; i < values->size(); ++i)
        if ((int64_t)i % step() >= k)
          (*values)[i] = nan;
  }

  /// Rows of whole panels.
  std::vector<float> run() const {
    int64_t columns = panelFloats(1, n);
    Elements left(FloatType::BF16, a), right(FloatType::BF16, b);
    std::vector<float> panels(panelFloats((k + 1) / 2, n), nan), c(m * columns, nan);
    packPairs((const Bf16 *)right.data(), step(), k, n, panels.data());
    multiplyPairs((const Bf16 *)left.data(), step(), panels.data(), m, columns, k, c.data(), columns);
    return c;
  }

  /// Whether each element is the sum of its k products, but for what additions of floats may round in any order.
  void expectSums() {
    std::vector<float> c = run();
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0, columns = panelFloats(1, n); j < columns; ++j) {
        double sum = 0, magnitude = 0;
        for (int64_t p = 0; j < n && p < k; ++p) {
          double product = (double)atA(i, p) * atB(p, j);
          sum += product, magnitude += std::abs(product);
        }
        ASSERT_NEAR(c[i * columns + j], sum, (double)(k - 1) * 0x1p-24 * magnitude)
            << m << " x " << n << " x " << k << ", gap " << gap << ": row " << i << ", column " << j;
      }
  }
};

class Bf16Product : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(multipliesBf16(), findHostLevel() >= CpuLevel::V4Bf16);
    if (!multipliesBf16())
      GTEST_SKIP() << "this processor has no products of bf16";
  }
};

TEST_F(Bf16Product, EqualsTheSumsInDouble) {
  for (int64_t m : {1, 3, 4, 13, 14, 15, 31, 64})
    for (int64_t n : {1, 15, 16, 17, 31, 32, 33, 100})
      for (int64_t k : {1, 2, 3, 31, 32, 33, 63, 64, 65, 66, 127, 200})
        for (int64_t gap : {0, 1, 6}) {
          Product product{m, n, k, gap, {}, {}};
          product.draw();
          product.expectSums();
          if (HasFatalFailure())
            return;
        }
}

/// Of one row of a, or one column of b; where the depth is odd, the last term has none beside it.
TEST_F(Bf16Product, PassesOnWhatIsNotFinite) {
  for (int64_t k : {2, 65})
    for (int64_t at : {int64_t(0), k - 1})
      for (bool isLeft : {false, true})
        for (float value : {nan, infinity, -infinity}) {
          Product product{15, 40, k, 1, {}, {}};
          product.draw();
          product.atA(14, at) = isLeft ? value : 2, product.atB(at, 39) = isLeft ? 2 : value;
          std::vector<float> c = product.run();
          for (int64_t i = 0; i < 15; ++i)
            for (int64_t j = 0; j < 40; ++j)
              ASSERT_EQ(std::isfinite(c[i * 64 + j]), isLeft ? i != 14 : j != 39) << i << " " << j;
          if (std::isinf(value))
            ASSERT_EQ(c[14 * 64 + 39], value);
        }
}

TEST_F(Bf16Product, TakesSubnormalNumbersForZero) {
  Product product{1, 1, 2, 0, {0x1p-130f, 0x1p-126f}, {0x1p100f, 0x1p100f}};
  EXPECT_EQ(product.run()[0], 0x1p-26f);
}

} // namespace
