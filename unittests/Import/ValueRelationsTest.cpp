// Constants and parameters by their values: what a function of a parameter gives is found, what is random is not.
#include "Import/ValueRelations.h"
#include "gtest/gtest.h"
#include <cmath>
#include <functional>
#include <random>

using namespace xlc::onnx;
using llvm::SmallVector;

namespace {

ValuedTensor makeRandom(SmallVector<int64_t> shape, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> numbers(-1, 1);
  size_t size = 1;
  for (int64_t each : shape)
    size *= each;
  std::vector<float> values(size);
  for (float &value : values)
    value = numbers(generator);
  return {shape, values};
}

ValuedTensor makeNumber(double number) { return {{}, {(float)number}}; }

/// The elements of `of`, each by `function`.
ValuedTensor mapElements(const ValuedTensor &of, const std::function<double(double)> &function) {
  std::vector<float> values;
  for (float value : of.values)
    values.push_back((float)function(value));
  return {of.shape, values};
}

const std::function<double(double)> functions[] = {
    [](double x) { return 1 - x; },
    [](double x) { return -x; },
    [](double x) { return std::exp(-x); },
    [](double x) { return 5 * x; },
    [](double x) { return x * x; },
    [](double x) { return 1 / x; },
    [](double x) { return std::cos(x); },
    [](double x) { return std::abs(x); },
    [](double x) { return std::tanh(x) / 3; },
    [](double x) { return std::sqrt(1 + std::exp(x)); },
};

TEST(ValueRelations, FunctionsOfEachElementAreFound) {
  ValuedTensor parameter = makeRandom({24}, 1);
  for (const auto &function : functions) {
    EXPECT_TRUE(isComputedFrom(mapElements(parameter, function), parameter));
    EXPECT_FALSE(isComputedFrom(mapElements(makeRandom({24}, 2), function), parameter));
  }
}

TEST(ValueRelations, NumbersAreComparedWithSimpleFunctionsOfOne) {
  EXPECT_TRUE(isComputedFrom(makeNumber(0.81873075), makeNumber(0.2))); // exp(-s)
  EXPECT_TRUE(isComputedFrom(makeNumber(1 / 3.0), makeNumber(3)));
  EXPECT_TRUE(isComputedFrom({{4}, {0.7F, 0.7F, 0.7F, 0.7F}}, {{4}, {0.3F, 0.3F, 0.3F, 0.3F}}));
  EXPECT_FALSE(isComputedFrom(makeNumber(0.81873075), makeNumber(0.3)));
  EXPECT_FALSE(isComputedFrom(makeNumber(3), makeNumber(0.5))); // 1 / s^2 - 1, by chance
}

TEST(ValueRelations, RowsColumnsAndPiecesAreFound) {
  ValuedTensor parameter = makeRandom({6, 8}, 1), turned({8, 6}, {}), scaled = parameter, norms({6}, {}),
               piece({2, 8}, {parameter.values.begin() + 8, parameter.values.begin() + 24});
  for (int r = 0; r < 6; ++r) {
    double sum = 0;
    for (int c = 0; c < 8; ++c)
      sum += std::pow(parameter.values[r * 8 + c], 2), scaled.values[r * 8 + c] *= (float)(r + 1);
    norms.values.push_back((float)std::sqrt(sum));
  }
  for (int c = 0; c < 8; ++c)
    for (int r = 0; r < 6; ++r)
      turned.values.push_back(scaled.values[r * 8 + c]);
  for (const ValuedTensor &constant : {scaled, turned, norms, piece}) {
    EXPECT_TRUE(isComputedFrom(constant, parameter));
    EXPECT_FALSE(isComputedFrom(constant, makeRandom({6, 8}, 2)));
  }
}

TEST(ValueRelations, SumsHaveAFactorOfOneDigit) {
  ValuedTensor a = makeRandom({6, 8}, 1), b = makeRandom({5}, 2);
  double squares = 0;
  for (const ValuedTensor &each : {a, b})
    for (float value : each.values)
      squares += value * value;
  EXPECT_TRUE(isSumOver((float)(0.02 * squares), {a, b}));
  EXPECT_TRUE(isSumOver((float)std::sqrt(squares), {a, b}));
  EXPECT_FALSE(isSumOver((float)(0.0217 * squares), {a, b}));
  EXPECT_FALSE(isSumOver((float)(0.02 * squares), {a}));
}

TEST(ValueRelations, WhatIsMadeOfNoParameterIsRegular) {
  ValuedTensor positions({12}, {}), slopes({2, 6}, {}), mask({4}, {0, -INFINITY, 0, 0}), table({12, 3}, {});
  for (int i = 0; i < 12; ++i) {
    positions.values.push_back((float)i / 7);
    slopes.values.push_back((float)std::pow(2, -i % 6));
    for (int c = 0; c < 3; ++c)
      table.values.push_back((float)std::sin(i / std::pow(10, c)));
  }
  for (const ValuedTensor &tensor : {positions, slopes, mask, table, makeNumber(0.125), makeNumber(std::sqrt(24)),
                                     makeNumber(std::log(511 / 128.0))})
    EXPECT_TRUE(isRegular(tensor));
  EXPECT_TRUE(isSinusoidTable(table));
  EXPECT_TRUE(isMask(mask));
  EXPECT_FALSE(isSinusoidTable(positions));
  EXPECT_FALSE(isRegular(makeRandom({12}, 1)));
  EXPECT_FALSE(isRegular(makeNumber(0.0667356)));
  for (float &value : table.values) // small numbers are all near a sinusoid
    value *= 1e-6F;
  EXPECT_FALSE(isSinusoidTable(table));
}

} // namespace
