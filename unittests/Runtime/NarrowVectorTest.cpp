// Rows of floats of sixteen bits, converted by vectors: each element is converted as by Narrow.h.
#include "Cpu/NarrowVector.h"

#include <gtest/gtest.h>

#include <vector>

using namespace xlc::runtime;

namespace {

/// As bits, so that NaNs compare too.
std::vector<uint32_t> bitsOf(const std::vector<float> &values) {
  std::vector<uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * 4);
  return bits;
}

/// Floats around everything that a float of sixteen bits can be, and halfway to the next one.
std::vector<float> floatsAround() {
  std::vector<float> values;
  for (uint32_t upper = 0; upper < 1 << 16; ++upper)
    for (uint32_t lower : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xf000u, 0xffffu})
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
  return values;
}

template <class T> void expectTheScalars() {
  std::vector<T> narrow(1 << 16);
  std::vector<float> wide(narrow.size()), expected(narrow.size());
  for (size_t i = 0; i < narrow.size(); ++i)
    narrow[i].bits = (uint16_t)i, expected[i] = narrow[i];
  widenRow(narrow.data(), wide.data(), (int64_t)wide.size());
  EXPECT_EQ(bitsOf(wide), bitsOf(expected));

  std::vector<float> floats = floatsAround();
  std::vector<T> rounded(floats.size());
  narrowRow(floats.data(), rounded.data(), (int64_t)floats.size());
  for (size_t i = 0; i < floats.size(); ++i)
    ASSERT_EQ(rounded[i].bits, T(floats[i]).bits) << bitsOf({floats[i]})[0];
}

TEST(NarrowVector, ConvertsEveryElementAsTheScalarsDo) {
  expectTheScalars<Bf16>();
  expectTheScalars<Half>();
}

TEST(NarrowVector, RowsOfEveryLengthEndWhereTheyEnd) {
  for (int64_t n = 0; n <= 70; ++n) {
    std::vector<Half> narrow(n + 1), back(n + 1);
    std::vector<float> wide(n + 1, 99.0f);
    for (int64_t i = 0; i < n; ++i)
      narrow[i] = Half((float)i + 0.5f);
    widenRow(narrow.data(), wide.data(), n);
    back[n].bits = 0x7777;
    narrowRow(wide.data(), back.data(), n);
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(back[i].bits, narrow[i].bits) << i << " of " << n;
    ASSERT_EQ(wide[n], 99.0f);
    ASSERT_EQ(back[n].bits, 0x7777);
  }
}

} // namespace
