// Scatter-add against a plain loop, cut in every way.
#include "Cpu/ScatterAdd.h"
#include "xlc/Runtime/Narrow.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

using namespace xlc::runtime;

TEST(ScatterAdd, HasTheBitsOfThePlainLoopForEveryCut) {
  std::vector<int64_t> indices = {3, 0, 3, 3, 6, 0};
  std::vector<float> updates;
  for (int i = 0; i < 6 * 5; ++i)
    updates.push_back(1.0f / (float)(3 + i));
  ScatterAddShape shape{1, 1, 6, 7, 5, false, true};
  std::vector<float> expected(7 * 5, 0.25f);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 5; ++j)
      expected[indices[i] * 5 + j] += updates[i * 5 + j];
  for (int64_t cut = 0; cut <= 7; ++cut) {
    std::vector<float> y(7 * 5, 0.25f);
    scatterAdd(shape, indices.data(), updates.data(), y.data(), true, 0, cut);
    scatterAdd(shape, indices.data(), updates.data(), y.data(), true, cut, 7);
    EXPECT_EQ(y, expected);
  }
}

/// As if the sums were rounded after the loop: once, in whatever order threads cut the rows.
template <class Narrow> void expectRoundedOnce(FloatType type) {
  std::vector<int32_t> indices = {2, 0, 2, 2, 4, 0, /**/ 1, 1, 1, 1, 1, 3};
  constexpr int64_t width = 2100; // more than are summed at once
  std::vector<float> updates, sums(2 * 5 * width);
  for (int i = 0; i < 2 * 6 * width; ++i)
    updates.push_back(1.0f / (float)(3 + i % 1001));
  ScatterAddShape shape{2, 2, 6, 5, width, false, false};
  scatterAdd(shape, indices.data(), updates.data(), sums.data(), false, 0, 10);
  shape.result = type;
  for (int64_t cut = 0; cut <= 10; ++cut) {
    std::vector<Narrow> y(2 * 5 * width, Narrow(9));
    scatterAdd(shape, indices.data(), updates.data(), y.data(), false, 0, cut);
    scatterAdd(shape, indices.data(), updates.data(), y.data(), false, cut, 10);
    for (size_t i = 0; i < sums.size(); ++i)
      ASSERT_EQ(y[i].bits, Narrow(sums[i]).bits) << "element " << i << ", cut at " << cut;
  }
}

TEST(ScatterAdd, RoundsOnceWhatHasSixteenBits) {
  expectRoundedOnce<Bf16>(FloatType::BF16);
  expectRoundedOnce<Half>(FloatType::F16);
}

TEST(ScatterAdd, ClearsWhereItDoesNotAddAndRefusesForeignIndices) {
  std::vector<int32_t> indices = {1};
  std::vector<float> updates = {2, 3}, y(4, 9.0f);
  scatterAdd({1, 1, 1, 2, 2, false, false}, indices.data(), updates.data(), y.data(), false, 0, 2);
  EXPECT_EQ(y, (std::vector<float>{0, 0, 2, 3}));
  indices[0] = -1;
  try {
    scatterAdd({1, 1, 1, 2, 2, false, false}, indices.data(), updates.data(), y.data(), false, 0, 2);
    FAIL();
  } catch (const std::out_of_range &problem) {
    EXPECT_STREQ(problem.what(), "index -1 is outside a table of 2 rows");
  }
}

TEST(ScatterAdd, HasAListOfIndicesPerBlockAndAnIndexPerElement) {
  // Blocks 0 and 2 read the first list, 1 and 3 the second; [2, 3] indices of [3, 2] rows and columns.
  std::vector<int64_t> indices = {0, 2, 2, 2, 1, 0, /**/ 1, 1, 1, 0, 0, 0};
  std::vector<float> updates(4 * 3 * 2);
  for (size_t i = 0; i < updates.size(); ++i)
    updates[i] = 1.0f / (float)(3 + i);
  ScatterAddShape shape{4, 2, 3, 3, 2, true, true};
  std::vector<float> expected(4 * 3 * 2, 0.0f);
  for (int o = 0; o < 4; ++o)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 2; ++j)
        expected[(o * 3 + indices[o % 2 * 6 + i * 2 + j]) * 2 + j] += updates[(o * 3 + i) * 2 + j];
  for (int64_t cut = 0; cut <= 12; ++cut) {
    std::vector<float> y(4 * 3 * 2, 0.25f);
    scatterAdd(shape, indices.data(), updates.data(), y.data(), false, 0, cut);
    scatterAdd(shape, indices.data(), updates.data(), y.data(), false, cut, 12);
    EXPECT_EQ(y, expected);
  }
  indices[11] = 3;
  EXPECT_THROW(scatterAdd(shape, indices.data(), updates.data(), expected.data(), true, 0, 12), std::out_of_range);
}
