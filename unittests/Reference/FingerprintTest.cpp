// The signs are those that xlc_export writes by: docs/Export.md has splitmix64 of the first places.
#include "xlc/Reference/Reference.h"
#include "gtest/gtest.h"
#include <cmath>
#include <numeric>
#include <random>

using namespace xlc::reference;

namespace {

TEST(Fingerprint, SignsAreBitsOfSplitMix) {
  // splitmix64(0) = ...1DCDAF, (1) = ...025CC1, (2) = ...9756CE, (3) = ...018FED: a bit that is set is a minus.
  constexpr uint16_t low[] = {0xCDAF, 0x5CC1, 0x56CE, 0x8FED};
  for (size_t i = 0; i < std::size(low); ++i) {
    std::vector<float> unit(std::size(low), 0);
    unit[i] = 2;
    Fingerprint made = fingerprintOf(llvm::ArrayRef<float>(unit));
    EXPECT_EQ(made.norm, 2);
    for (size_t k = 0; k < made.projections.size(); ++k)
      EXPECT_EQ(made.projections[k], low[i] >> k & 1 ? -2 : 2) << i << " " << k;
  }
}

TEST(Fingerprint, OfNothingIsZero) {
  Fingerprint made = fingerprintOf(llvm::ArrayRef<double>());
  EXPECT_EQ(made.norm, 0);
  EXPECT_EQ(estimateDistance(made, Fingerprint()), 0);
}

/// Sixteen sums estimate the norm of a difference to a third: 1 / sqrt(2 * 16) is their standard deviation.
TEST(Fingerprint, EstimatesTheNormOfADifference) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> a(3000), b(3000);
    double squares = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = normal(random), b[i] = a[i] + 1e-3 * normal(random);
      squares += (a[i] - b[i]) * (a[i] - b[i]);
    }
    double estimate = estimateDistance(fingerprintOf(llvm::ArrayRef(a)), fingerprintOf(llvm::ArrayRef(b)));
    EXPECT_GT(estimate, 0.3 * std::sqrt(squares));
    EXPECT_LT(estimate, 2.0 * std::sqrt(squares));
  }
}

} // namespace
