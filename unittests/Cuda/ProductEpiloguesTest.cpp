// What a product does with its sums before it rounds them, against the same in double.
#include "../Runtime/Elements.h"
#include "Cuda/Products.h"
#include "Failure.h"
#include "Said.h"
#include "SimulatedCublasLt.h"
#include "StandInDevice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

constexpr int64_t m = 5, n = 24, k = 7, pitch = 32;
constexpr ProductAlignment most = {256, 256, 256, 256, 256};

double gelu(double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
/// By a difference: two formulas cannot share a mistake.
double slopeOfGelu(double x) { return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5; }

std::vector<float> draw(int64_t count, unsigned seed) {
  std::mt19937 all(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = std::uniform_real_distribution<float>(-2, 2)(all);
  return values;
}

ContractShape shapeOf(FloatType type, Epilogue epilogue) {
  return {m, n, k, k, 1, 1, k, pitch, 1, {}, epilogue, type, type};
}

/// Multiplies, and compares y and what lies beside it, both of whose rows have gaps behind them.
void check(FloatType type, Epilogue epilogue) {
  SCOPED_TRACE(testing::Message() << (int)type << " " << epilogue.bias << epilogue.residual
                                  << (int)epilogue.activation);
  standInDevice().reset();
  Products products(simulatedCublasLt());
  Elements a(type, draw(m * k, 1)), b(type, draw(n * k, 2)), bias(type, draw(n, 3));
  Elements beside(type, draw(m * pitch, 4)), y(type, draw(m * pitch, 5));
  std::vector<float> besideBefore = beside.floats(), before = y.floats();
  ContractShape shape = shapeOf(type, epilogue);
  Product product = products.prepare("it", shape, 0, {16, 2, 16, 16, 16});
  product.run({a.data(), b.data(), epilogue.bias ? bias.data() : nullptr,
               epilogue.hasBeside() ? beside.data() : nullptr, y.data()},
              false, nullptr, nullptr);
  standInDevice().finish();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < pitch; ++j) {
      int64_t at = i * pitch + j;
      if (j >= n) {
        ASSERT_EQ(y[at], before[at]) << "a gap is written over";
        ASSERT_EQ(beside[at], besideBefore[at]) << "a gap beside it is written over";
        continue;
      }
      double sum = epilogue.bias ? bias[j] : 0;
      for (int64_t l = 0; l < k; ++l)
        sum += (double)a[i * k + l] * b[j * k + l];
      if (epilogue.residual)
        sum += besideBefore[at];
      double expected = epilogue.activation == Activation::None           ? sum
                        : epilogue.activation == Activation::GeluBackward ? sum * slopeOfGelu(besideBefore[at])
                                                                          : gelu(sum);
      ASSERT_LT(errorBeyondRounding(type, expected, y[at]), 2e-5) << i << ", " << j;
      if (epilogue.activation == Activation::Gelu)
        ASSERT_LT(errorBeyondRounding(type, sum, beside[at]), 2e-6) << "the sum beside it, " << i << ", " << j;
      else
        ASSERT_EQ(beside[at], besideBefore[at]);
    }
}

TEST(ProductEpilogues, EqualThoseInDouble) {
  for (FloatType type : {FloatType::BF16, FloatType::F16})
    for (bool bias : {false, true}) {
      check(type, {.bias = bias});
      check(type, {.bias = bias, .residual = true});
      check(type, {.bias = bias, .activation = Activation::Gelu});
      if (!bias)
        check(type, {.activation = Activation::GeluBackward});
    }
}

/// As the real library: in f32, and where lines are no whole sixteen bytes, there is no GELU.
TEST(ProductEpilogues, ThereIsNoGeluOfOddLinesAndInF32) {
  Products products(simulatedCublasLt());
  ContractShape shape = shapeOf(FloatType::BF16, {.activation = Activation::Gelu});
  shape.yM = 28;
  EXPECT_NE(messageOf<Rejected>([&] { products.prepare("it", shape, 0, most); }).find("has no algorithm"),
            std::string::npos);
  shape = shapeOf(FloatType::F32, {.activation = Activation::Gelu});
  EXPECT_NE(messageOf<Rejected>([&] { products.prepare("it", shape, 0, most); }).find("has no algorithm"),
            std::string::npos);
}

} // namespace
