// The random words of attention's dropout, compared with Philox.h. AttentionTest.cpp tests their effect on attention.
#include "Cpu/AttentionRows.h"
#include "CpuLevels.h"
#include "xlc/Runtime/Dropout.h"
#include "xlc/Runtime/Philox.h"

#include <gtest/gtest.h>

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

/// The words of keptRow are those of Philox.h, at every level, wherever a row begins.
TEST(AttentionDropout, RowsOfWordsAreThoseOfTheDefinition) {
  constexpr uint64_t key = 0x9876543210fedcba;
  for (CpuLevel level : levelsHere()) {
    AtLevel at(level);
    for (uint64_t first :
         {uint64_t(0), uint64_t(1), uint64_t(6), uint64_t(4095), (uint64_t(1) << 34) - 70, uint64_t(5) << 40})
      for (int64_t n : {1, 2, 63, 64, 65, 128, 130})
        for (double ratio : {0x1p-20, (double)0.1F, 0.5, 0.9}) {
          KeptWords words{key, subsequenceOfSite((uint64_t)n), firstKeptWord(ratio), 2};
          std::vector<float> room(keptRoom(n));
          const float *factors = keptRow(words, first, n, room.data());
          for (int64_t i = 0; i < n; ++i)
            ASSERT_EQ(factors[i] != 0, drawWord(first + i, words.subsequence, key) >= words.firstKept)
                << nameOf(level) << ", element " << first << " + " << i;
        }
  }
}

TEST(AttentionDropout, ARatioIsAFractionOfWordsAndAScale) {
  EXPECT_EQ(firstKeptWord(0.5), uint32_t(1) << 31);
  EXPECT_EQ(firstKeptWord((double)0.1F), uint32_t(2) * 214748368);
  KeptScale tenth((double)0.1F);
  EXPECT_EQ(tenth.numerator, 134217728);
  EXPECT_EQ(tenth.denominator, 120795955);
}

} // namespace
