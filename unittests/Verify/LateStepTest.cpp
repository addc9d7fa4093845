// A step whose time is over before it begins, or while it runs, is given up and says so.
#include "Judged.h"
#include "xlc/Verify/RunStep.h"
#include <gtest/gtest.h>

using namespace xlc;
using namespace xlc::test;

namespace {

/// Runs a step that is given up at each of these times from its begin on, and calls visit with what becomes of it.
void runFor(const std::vector<std::chrono::microseconds> &times, llvm::function_ref<void(verify::StepOutcome)> visit) {
  Judged square{
      {{"8x40xf32"}, {"8x40xf32", Slot::Scratch}},
      R"(func.func private @k(%x: tensor<8x40xf32>) -> tensor<8x40xf32> attributes {exec.kind = #exec.kernel<loop>} {
                     %y = graph.mul %x, %x : tensor<8x40xf32>
                     return %y : tensor<8x40xf32>
                   })",
      "exec.call @k ins(%0 : memref<8x40xf32>) outs(%1 : memref<8x40xf32>) accumulate [0]"};
  square.compile({}, [&](mlir::ModuleOp, llvm::MemoryBufferRef object) {
    auto ignore = [](auto...) {};
    for (std::chrono::microseconds time : times) {
      verify::StepRequest request{.rows = {}, .fill = ignore, .read = ignore, .end = {}};
      request.rows["in0"] = std::vector<double>(8 * 40, 2.0);
      request.end = std::chrono::steady_clock::now() + time;
      visit(llvm::cantFail(verify::runStep(object, request)));
    }
  });
}

TEST(LateStep, IsGivenUp) {
  runFor({std::chrono::hours(-1)}, [](verify::StepOutcome made) { EXPECT_TRUE(made.isLate); });
  runFor({std::chrono::hours(1)}, [](verify::StepOutcome made) { EXPECT_FALSE(made.isLate); });
}

/// Between the begin of its threads and their last meeting: whatever becomes of it, it returns.
TEST(LateStep, IsGivenUpAnywhere) {
  std::vector<std::chrono::microseconds> times;
  for (int i = 0; i < 400; ++i)
    times.push_back(std::chrono::microseconds(10 * i));
  unsigned late = 0;
  runFor(times, [&](verify::StepOutcome made) { late += made.isLate; });
  EXPECT_GT(late, 0u);
  EXPECT_LT(late, 400u);
}

} // namespace
