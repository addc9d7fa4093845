// Combinations between ranks of one host.
#include "Cpu/CpuDevice.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace xlc::runtime;
using xlc::plan::Element;

// More than a block of it, in place, with a rest.
TEST(SerialMover, WhatIsCombinedIsInItsCopiesToo) {
  constexpr uint64_t first = 3, count = 40003;
  std::vector<std::vector<float>> ranks(3, std::vector<float>(first + count + 5));
  for (size_t r = 0; r < ranks.size(); ++r)
    for (size_t i = 0; i < ranks[r].size(); ++i)
      ranks[r][i] = (float)(r * 1000 + i);
  std::vector<float> expected(ranks[0].size()), other = ranks[2];
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = ranks[0][i] + ranks[1][i] + ranks[2][i];
  std::vector<const char *> sources;
  std::vector<char *> copies;
  for (size_t r = 0; r < ranks.size(); ++r) {
    sources.push_back((const char *)ranks[r].data());
    if (r > 0)
      copies.push_back((char *)&ranks[r][first]);
  }
  SerialMover().combine(
      {Combine::Sum, Element::F32, sources, first, 0, count, 1, (char *)&ranks[0][first], false, Element::F32, copies});
  for (const std::vector<float> &rank : ranks)
    EXPECT_EQ(0, std::memcmp(&rank[first], &expected[first], count * sizeof(float)));
  EXPECT_EQ(0, std::memcmp(&ranks[2][first + count], &other[first + count], 5 * sizeof(float))) << "behind it";
  EXPECT_EQ(0, std::memcmp(ranks[2].data(), other.data(), first * sizeof(float))) << "before it";
}
