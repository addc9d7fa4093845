// Conditions beside the scores of attention as device code makes floats of them, on simulated threads.
#include "DeviceKernel.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace xlc;
using namespace xlc::runtime;
using namespace xlc::test;

namespace {

bool isNear(const ConditionParameters &p, int64_t distance) {
  return (!p.causal || distance >= 0) && (p.window == 0 || std::abs(distance) < p.window);
}

/// The condition lies as the parameters say, in memory that a condition for all samples, heads and queries would have.
void expectCondition(ConditionParameters p) {
  std::vector<uint8_t> condition(3 * 2 * 5 * p.keys);
  for (size_t i = 0; i < condition.size(); ++i)
    condition[i] = i % 7 % 3 != 0;
  std::vector<float> bias(p.count(), 1), expected;
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t h = 0; h < p.heads; ++h)
      for (int64_t q = 0; q < p.queries; ++q)
        for (int64_t k = 0; k < p.keys; ++k)
          expected.push_back(
              condition[b * p.ofBatch + h * p.ofHead + q * p.ofQuery + k] && isNear(p, q - k) ? 0 : kForbiddenScore);
  ASSERT_EQ(launchDevice("xlc_condition", blocksForCondition(p), {operandOf(condition), operandOf(bias)}, &p, 1), "");
  EXPECT_EQ(bias, expected);
}

TEST(DeviceConditions, AreAddedAsZeroOrAlmostInfinity) {
  expectCondition({3, 2, 5, 128, 1280, 640, 128, 0, 0});
  expectCondition({3, 1, 1, 128, 128, 0, 0, 0, 0});
  expectCondition({1, 1, 5, 128, 0, 0, 128, 0, 0});
  expectCondition({3, 2, 5, 37, 370, 37, 74, 0, 0}); // heads between queries
}

TEST(DeviceConditions, SayWhatCausalityAndAWindowForbid) {
  expectCondition({3, 1, 5, 37, 37, 0, 0, 1, 0});
  expectCondition({3, 2, 5, 37, 370, 37, 74, 1, 3});
  expectCondition({1, 1, 5, 37, 0, 0, 0, 0, 2});
}

} // namespace
