// Sums and products beyond 64 bits are exact, beyond 128 they stay at the end, and text and JSON have all digits.
#include "xlc/Support/Bytes.h"
#include "xlc/Support/Numbers.h"
#include "xlc/Support/QuantityJson.h"

#include <gtest/gtest.h>

using namespace xlc;

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(Quantity, IsExactBeyond64Bits) {
  Quantity square = Quantity(kMost) * kMost;
  EXPECT_EQ(square.str(), "85070591730234615847396907784232501249");
  EXPECT_EQ(square / kMost, kMost);
  EXPECT_EQ((Quantity(kMost) + 1).str(), "9223372036854775808");
  EXPECT_EQ((Quantity(0) - kMost - 2).str(), "-9223372036854775809");
  EXPECT_EQ(Quantity(~uint64_t(0)).str(), "18446744073709551615");
  EXPECT_EQ(Quantity().str(), "0");
}

TEST(Quantity, StaysAtTheEnd) {
  Quantity end = Quantity(kMost) * kMost * kMost;
  EXPECT_GT(end, Quantity(kMost) * kMost);
  EXPECT_EQ(end + end, end);
  EXPECT_EQ(end * -1 - end, end * -1);
  EXPECT_LT(end * -kMost, 0);
}

TEST(Quantity, IsCutTo64BitsOnDemand) {
  EXPECT_TRUE(Quantity(kMost).fitsInt64());
  EXPECT_FALSE((Quantity(kMost) + 1).fitsInt64());
  EXPECT_EQ((Quantity(kMost) + 1).clamp(), kMost);
  EXPECT_EQ((Quantity(-kMost) * 2).clamp(), std::numeric_limits<int64_t>::min());
}

TEST(Quantity, IsWrittenWithAllDigits) {
  Quantity large = Quantity(1) * 1000000007 * 1000000009 * 1000000021;
  nlohmann::ordered_json json = {{"small", Quantity(5)}, {"large", large}, {"both", {large, "large"}}};
  EXPECT_EQ(dumpReport(json), "{\n  \"small\": 5,\n  \"large\": " + large.str() + ",\n  \"both\": [\n    " +
                                  large.str() + ",\n    \"large\"\n  ]\n}");
  EXPECT_EQ(groupDigits(Quantity(kMost) + 1), "9 223 372 036 854 775 808");
  EXPECT_EQ(formatFlops(Quantity(kMost) * 1000), "9.22 ZFLOP");
  EXPECT_EQ(formatBytes(Quantity(int64_t(1) << 62) * 4), "16777216 TiB");
}

} // namespace
