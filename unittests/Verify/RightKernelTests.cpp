// Kernels whose formulas round in another order than the interpreter's are right within their bounds, for all constants
// that an op may have.
#include "Judged.h"
#include <gtest/gtest.h>

using namespace xlc;
using namespace xlc::test;

namespace {

/// A kernel multiplies by a quotient that it knows: two roundings, where a division has one.
TEST(RightKernel, ScalesByAnyQuotient) {
  for (int numerator : {1, 3, 1000})
    for (int denominator : {3, 7, 49, 180, 6562, 1000003}) {
      std::string quotient = std::to_string(numerator) + " over " + std::to_string(denominator);
      Judged scale{
          {{"8x40xf32"}, {"8x40xf32", Slot::Scratch}},
          R"(func.func private @k(%x: tensor<8x40xf32>) -> tensor<8x40xf32> attributes {exec.kind = #exec.kernel<loop>} {
                        %y = graph.scale %x by )" +
              quotient + R"( : tensor<8x40xf32>
                        return %y : tensor<8x40xf32>
                      })",
          "exec.call @k ins(%0 : memref<8x40xf32>) outs(%1 : memref<8x40xf32>) accumulate [0]"};
      verify::KernelReport report = scale.run();
      EXPECT_TRUE(report.isEqual()) << quotient << ": " << report.summary();
      EXPECT_EQ(report.elements, 8 * 40);
    }
}

} // namespace
