// Scatter-add against a plain loop, cut in every way.
#include "Cpu/ScatterAdd.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

using namespace xlc::runtime;

TEST(ScatterAdd, HasTheBitsOfThePlainLoopForEveryCut) {
  std::vector<int64_t> indices = {3, 0, 3, 3, 6, 0};
  std::vector<float> updates;
  for (int i = 0; i < 6 * 5; ++i)
    updates.push_back(1.0f / (float)(3 + i));
  ScatterAddShape shape{6, 7, 5, true};
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

TEST(ScatterAdd, ClearsWhereItDoesNotAddAndRefusesForeignIndices) {
  std::vector<int32_t> indices = {1};
  std::vector<float> updates = {2, 3}, y(4, 9.0f);
  scatterAdd({1, 2, 2, false}, indices.data(), updates.data(), y.data(), false, 0, 2);
  EXPECT_EQ(y, (std::vector<float>{0, 0, 2, 3}));
  indices[0] = -1;
  try {
    scatterAdd({1, 2, 2, false}, indices.data(), updates.data(), y.data(), false, 0, 2);
    FAIL();
  } catch (const std::out_of_range &problem) {
    EXPECT_STREQ(problem.what(), "index -1 is outside a table of 2 rows");
  }
}
