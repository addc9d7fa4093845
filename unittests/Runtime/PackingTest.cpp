// Operands of bf16 in oneDNN's layout, element by element: whole blocks, edges, gaps between rows and columns.
#include "Cpu/Packing.h"
#include "Cpu/Vector.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace xlc::runtime;

namespace {

constexpr uint16_t untouched = 0xffff;

/// Bits that tell elements apart.
std::vector<Bf16> number(int64_t count) {
  std::vector<Bf16> elements(count);
  for (int64_t i = 0; i < count; ++i)
    elements[i].bits = uint16_t(i % 0xfff1 + 1);
  return elements;
}

std::vector<Bf16> fill(int64_t count) {
  std::vector<Bf16> elements(count);
  for (Bf16 &element : elements)
    element.bits = untouched;
  return elements;
}

class Packing : public testing::Test {
protected:
  void SetUp() override {
    if (!multipliesBf16())
      GTEST_SKIP() << "this processor has no products of bf16";
  }
};

/// Where term p of column j is: format BA16a64b2a of oneDNN.
int64_t placeInBlocks(int64_t k, int64_t p, int64_t j) {
  int64_t block = j / 64 * ((k + 31) / 32) + p / 32;
  return block * 32 * 64 + p % 32 / 2 * 128 + j % 64 * 2 + p % 2;
}

/// Columns from `begin` on, of all in memory.
void expectBlocks(int64_t k, int64_t n, int64_t bK, int64_t bN, int64_t begin) {
  std::vector<Bf16> b = number((k - 1) * bK + (n - 1) * bN + 1), blocks = fill(blockedElements(k, n));
  packBlocks(b.data(), bK, bN, k, begin, n, blocks.data());
  int64_t wholeK = (k + 31) / 32 * 32, wholeN = (n + 63) / 64 * 64;
  ASSERT_EQ((int64_t)blocks.size(), wholeK * wholeN);
  for (int64_t p = 0; p < wholeK; ++p)
    for (int64_t j = 0; j < wholeN; ++j) {
      uint16_t expected = j < begin ? untouched : p < k && j < n ? b[p * bK + j * bN].bits : 0;
      ASSERT_EQ(blocks[placeInBlocks(k, p, j)].bits, expected) << "term " << p << ", column " << j;
    }
}

TEST_F(Packing, PutsEachTermOfARightOperandIntoItsBlock) {
  for (int64_t k : {1, 2, 31, 32, 33, 64, 95})
    for (int64_t n : {1, 63, 64, 65, 128, 145})
      for (int64_t gap : {0, 1, 6})
        for (int64_t begin = 0; begin < n; begin += 64) {
          SCOPED_TRACE(testing::Message() << k << " x " << n << ", gap " << gap);
          expectBlocks(k, n, n + gap, 1, begin);
          expectBlocks(k, n, 1, k + gap, begin);
          expectBlocks(k, n, 2 * n + gap, 2, begin);
          if (HasFatalFailure())
            return;
        }
}

TEST_F(Packing, TransposesALeftOperand) {
  for (int64_t m : {1, 31, 32, 33, 64, 100})
    for (int64_t k : {1, 2, 31, 32, 33, 64, 95})
      for (int64_t gap : {0, 1, 6}) {
        std::vector<Bf16> a = number(k * (m + gap)), rows = fill(m * k + 1);
        packTransposed(a.data(), m + gap, m, k, rows.data());
        for (int64_t i = 0; i < m; ++i)
          for (int64_t p = 0; p < k; ++p)
            ASSERT_EQ(rows[i * k + p].bits, a[p * (m + gap) + i].bits) << m << " x " << k << ", gap " << gap;
        ASSERT_EQ(rows[m * k].bits, untouched);
      }
}

} // namespace
