// Bounds hold for floats that are computed by the same ops in another order, and are not much wider than they must be.
#include "xlc/Interpret/Bounded.h"
#include <gtest/gtest.h>
#include <random>

using xlc::interpret::Bounded;
using xlc::interpret::Narrow;
using xlc::interpret::toNarrow;
using Functions = xlc::interpret::Functions<Bounded>;

namespace {

std::mt19937 generator(1);

float draw(float scale) { return std::uniform_real_distribution<float>(-scale, scale)(generator); }

TEST(Bound, SumsInEitherDirection) {
  for (int n : {1, 2, 3, 100, 5000}) {
    Bounded sum;
    std::vector<float> terms;
    for (int i = 0; i < n; ++i)
      sum += Bounded(terms.emplace_back(draw(1)));
    float forward = 0, backward = 0;
    for (int i = 0; i < n; ++i)
      forward += terms[i], backward += terms[n - 1 - i];
    EXPECT_LE(std::abs(forward - sum.get()), sum.error());
    EXPECT_LE(std::abs(backward - sum.get()), sum.error());
    EXPECT_LE(sum.error(), n * n * 6e-8);
  }
}

TEST(Bound, OneLargeTermAmongSmallOnes) {
  Bounded sum;
  float first = 1;
  for (int i = 0; i < 10000; ++i)
    sum += Bounded(1e-8), first += 1e-8f;
  sum += Bounded(1);
  EXPECT_LE(std::abs(first - sum.get()), sum.error());
}

TEST(Bound, ChainsOfProductsQuotientsAndFunctions) {
  Functions functions(0);
  for (int i = 0; i < 100000; ++i) {
    float a = draw(3), b = draw(3), c = 0.1f + std::abs(draw(2));
    float plain = std::exp(a * b - c) / (c + 1) * std::tanh(a - b) + std::sqrt(c) * std::log(c);
    Bounded x(a), y(b), z(c);
    Bounded bounded =
        functions.exp(x * y - z) / (z + Bounded(1)) * functions.tanh(x - y) + functions.sqrt(z) * functions.log(z);
    ASSERT_LE(std::abs(plain - bounded.get()), bounded.error());
    ASSERT_LE(bounded.error(), 5e-6 * (1 + std::exp(a * b - c))); // of the largest number on the way
  }
}

/// Subnormal numbers have few bits, and some libraries take them for zero.
TEST(Bound, SumsOfTinyProducts) {
  float a = 3e-22f, b = 1.7e-21f;
  Bounded sum = Bounded::sumOfProducts(2 * double(a) * b, 2 * double(a) * b, 0, 2);
  EXPECT_LE(std::abs(double(a * b) + a * b - sum.get()), sum.error());
  EXPECT_LE(sum.get(), sum.error()); // zero
  Bounded product = Bounded(a) * Bounded(b);
  EXPECT_LE(product.get(), product.error());
}

TEST(Bound, MovesAndSignsAreExact) {
  Bounded x(0.1f);
  EXPECT_EQ((-x).error(), 0);
  EXPECT_EQ((x * Bounded(1)).error(), 0);
  EXPECT_EQ((x + Bounded()).error(), 0);
  EXPECT_EQ((x * Bounded()).error(), 0);
}

TEST(Bound, DifferencesAreAsExactAsTheirTerms) {
  Bounded lowest(-3.4028234663852886e38);
  EXPECT_EQ((lowest - lowest).error(), 0); // a row of softmax of which all scores are masked
  EXPECT_LE(Functions(0).exp(lowest - lowest).error(), 5e-7);
  EXPECT_LE((Bounded(1.5) - Bounded(1.25)).error(), 0.25 * 6e-8);
  for (int i = 0; i < 100000; ++i) {
    float a = draw(3), b = draw(3), c = draw(3);
    Bounded difference = Bounded(a) - Bounded(b), product = difference * Bounded(c);
    ASSERT_LE(std::abs((a - b) - difference.get()), difference.error());
    ASSERT_LE(std::abs((a - b) * c - product.get()), product.error());
    Bounded sum = product - difference + Bounded(b); // its terms in any order
    ASSERT_LE(std::abs((a - b) * c - ((a - b) - b) - sum.get()), sum.error());
  }
}

TEST(Bound, ComparisonsThatRoundingCanTurnAreCounted) {
  Bounded third = Bounded(1) / Bounded(3);
  int64_t before = Bounded::openDecisions();
  EXPECT_TRUE(Bounded(2) > third);
  EXPECT_EQ(Bounded::openDecisions(), before);
  (void)(third * Bounded(3) == Bounded(1)); // either may come out
  EXPECT_EQ(Bounded::openDecisions(), before + 1);
}

/// What is rounded to sixteen bits in floats lies within the bound, and is rounded already.
TEST(Bound, RoundingToSixteenBits) {
  for (Narrow to : {Narrow::BF16, Narrow::F16}) {
    int64_t open = 0;
    for (int i = 0; i < 100000; ++i) {
      float a = draw(i % 2 ? 3 : 1e-5f), b = draw(3);
      Bounded product = Bounded(a) * Bounded(b), stored = toNarrow(product, to);
      double is = toNarrow(a * b, to);
      ASSERT_LE(std::abs(is - stored.get()), stored.error());
      ASSERT_LE(stored.error(), std::max(std::abs(is) * (to == Narrow::BF16 ? 0x1p-8 : 0x1p-11), 0x1p-25));
      open += stored.error() > 0;
      Bounded again = toNarrow(stored, to);
      ASSERT_EQ(again.get(), stored.get());
      ASSERT_EQ(again.error(), stored.error());
      ASSERT_EQ(toNarrow(Bounded(a), to).get(), toNarrow(a, to)); // of what is exact there is one
      ASSERT_EQ(toNarrow(Bounded(a), to).error(), 0);
    }
    EXPECT_LT(open, 1000); // a product is off by half an ulp of a float, and seldom near the middle of two halves
  }
}

TEST(Bound, RoundingToSixteenBitsAtTheEnds) {
  EXPECT_EQ(toNarrow(Bounded(65520), Narrow::F16).get(), INFINITY);
  EXPECT_EQ(toNarrow(Bounded(65519), Narrow::F16).get(), 65504);
  EXPECT_EQ(toNarrow(Bounded(65519, 2), Narrow::F16).error(), INFINITY);
  EXPECT_TRUE(isUndefined(toNarrow(Bounded(NAN), Narrow::BF16)));
  EXPECT_EQ(toNarrow(Bounded(-INFINITY), Narrow::BF16).get(), -INFINITY);
  Bounded wide = toNarrow(Bounded(0.5, 0.5), Narrow::BF16); // 0 to 1
  EXPECT_EQ(wide.get(), 0.5);
  EXPECT_EQ(wide.error(), 0.5);
}

} // namespace
