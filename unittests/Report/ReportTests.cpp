// A report's figures on a program small enough to count by hand.
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Dialect/Sched/Sched.h"
#include "xlc/Report/Report.h"
#include "xlc/Target/Targets.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;

namespace {

// moment 0: begin; 1, 2: the two calls of layer[0] F; 3: release
//   w  256 ########   persistent
//   a 1024  ##        first call writes, second reads
//   b  512   ##       second call writes, the release names it
//   c  128  #         scratch of the first call
constexpr const char *program = R"(
  module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
  func.func private @kernel(%x: tensor<1xf32>) -> tensor<1xf32> {
    return %x : tensor<1xf32>
  }
  func.func private @layer_F(%w: memref<1xf32>, %a: memref<1xf32>, %b: memref<1xf32>, %c: memref<1xf32>) {
    exec.call @kernel ins(%w : memref<1xf32>) outs(%a : memref<1xf32>) workspace(%c : memref<1xf32>) accumulate [0]
    exec.call @kernel ins(%a : memref<1xf32>) outs(%b : memref<1xf32>) accumulate [0]
    return
  }
  sched.bucket @bucket_0 ["h.0.weight", "h.0.bias"] at [0, 32] sizes [32, 32] elements 64 group 0 params whole grads whole states whole
  exec.program @train stage 0 micro_batches 1 arena 1856 lower_bound 1792 {
    exec.buffer 0 parameters "bucket_0" size 256 offset 0 live 0 to 2 persistent
    exec.buffer 1 workspace "layer[0] F/a" size 1024 offset 256 live 1 to 1
    exec.buffer 2 residuals "layer[0] F/b" size 512 offset 1344 live 1 to 2
    exec.buffer 3 communication "layer[0] F/c" size 128 offset 1344 live 1 to 1
    exec.begin [#exec.place<0 + 0 + 0>]
    exec.run @layer_F "layer[0] F" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>, #exec.place<2 + 0 + 0>, #exec.place<3 + 0 + 0>] role <F>
    exec.release "b" <2 + 0 + 0> bytes 512
  }
  }
)";

struct ReportTest : testing::Test {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Spec spec;
  std::unique_ptr<Target> target = getTargets().front().make("native");

  PlanReport report() {
    context.loadDialect<func::FuncDialect, graph::GraphDialect, dist::DistDialect, sched::SchedDialect,
                        exec::ExecDialect>();
    module = parseSourceString<ModuleOp>(program, &context);
    spec.dp = 2;
    return makeReport(*module, spec, *target);
  }
};

// The second call has w, a and b live: 1792. The sum of all is never live.
TEST_F(ReportTest, MemoryIsThatOfTheFullestMoment) {
  PlanReport plan = report();
  ASSERT_EQ(plan.groups.size(), 1u);
  const MemoryReport &memory = plan.groups[0].memory;
  EXPECT_EQ(plan.groups[0].ranks, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(memory.byCause, (std::array<int64_t, 6>{256, 0, 0, 512, 1024, 0}));
  EXPECT_EQ(memory.lowerBound, 1792);
  EXPECT_EQ(memory.gaps(), 64);
  EXPECT_EQ(memory.total(), 1856 + sumOf(target->outsideLines()));
  EXPECT_EQ(memory.peakAction, "layer[0] F");
}

TEST_F(ReportTest, LargestBuffersNameTheirTensors) {
  std::vector<PeakBuffer> largest = report().groups[0].memory.largest;
  ASSERT_EQ(largest.size(), 3u);
  EXPECT_EQ(largest[0].name, "layer[0] F/a");
  EXPECT_EQ(largest[2].name, "bucket_0: h.0.weight and 1 more");
}

TEST_F(ReportTest, FitsIsAboutTheTotal) {
  spec.deviceMemory = 1856 + sumOf(target->outsideLines());
  EXPECT_TRUE(report().fits());
  *spec.deviceMemory -= 1;
  EXPECT_FALSE(report().fits());
}

} // namespace
