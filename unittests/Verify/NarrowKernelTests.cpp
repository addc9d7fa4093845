// Kernels and messages of floats of sixteen bits: right ones are accepted, and one that rounds otherwise is found, since
// what a kernel is sure of before it rounds must have the same bits afterwards.
#include "Judged.h"
#include "xlc/Dialect/Graph/Graph.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;
using namespace xlc::test;

namespace {

/// `text` with one of the narrow types in the place of "half".
std::string in(const char *type, std::string text) {
  for (size_t at; (at = text.find("half")) != std::string::npos;)
    text.replace(at, 4, type);
  return text;
}

/// h = x w, in sixteen bits; y = w + h; a row of h, turned around.
Judged storeAndLoad(const char *type) {
  return {{{"8x40xf32"},
           {"8x40xf32"},
           {in(type, "8x40xhalf"), Slot::Scratch},
           {"8x40xf32", Slot::Scratch},
           {in(type, "40x8xhalf"), Slot::Scratch}},
          in(type, R"(func.func private @store(%x: tensor<8x40xf32>, %w: tensor<8x40xf32>) -> tensor<8x40xhalf>
                            attributes {exec.kind = #exec.kernel<loop>} {
                            %p = graph.mul %x, %w : tensor<8x40xf32>
                            %h = graph.cast %p : tensor<8x40xf32> -> tensor<8x40xhalf>
                            return %h : tensor<8x40xhalf>
                          }
                          func.func private @load(%w: tensor<8x40xf32>, %h: tensor<8x40xhalf>) -> tensor<8x40xf32>
                            attributes {exec.kind = #exec.kernel<loop>} {
                            %p = graph.cast %h : tensor<8x40xhalf> -> tensor<8x40xf32>
                            %y = graph.add %w, %p : tensor<8x40xf32>
                            return %y : tensor<8x40xf32>
                          }
                          func.func private @turn(%h: tensor<8x40xhalf>) -> tensor<40x8xhalf>
                            attributes {exec.kind = #exec.kernel<loop>} {
                            %y = graph.transpose %h [1, 0] : tensor<8x40xhalf> -> tensor<40x8xhalf>
                            return %y : tensor<40x8xhalf>
                          })"),
          in(type, R"(exec.call @store ins(%0, %1 : memref<8x40xf32>, memref<8x40xf32>)
                            outs(%2 : memref<8x40xhalf>) accumulate [0]
                          exec.call @load ins(%1, %2 : memref<8x40xf32>, memref<8x40xhalf>)
                            outs(%3 : memref<8x40xf32>) accumulate [0]
                          exec.call @turn ins(%2 : memref<8x40xhalf>) outs(%4 : memref<40x8xhalf>) accumulate [0])")};
}

TEST(NarrowKernel, StoresAndLoads) {
  for (const char *type : {"bf16", "f16"}) {
    verify::KernelReport report = storeAndLoad(type).run();
    EXPECT_TRUE(report.isEqual()) << report.summary();
    EXPECT_EQ(report.elements, 3 * 8 * 40);
  }
}

/// Off by a quarter of what sixteen bits tell apart: some elements are rounded to a neighbour.
TEST(NarrowKernel, IsFoundWhereItRoundsFromAnotherNumber) {
  for (const char *type : {"bf16", "f16"}) {
    verify::KernelReport report = storeAndLoad(type).run([&](ModuleOp module) {
      module.walk([&](graph::MulOp mul) {
        OpBuilder builder(mul.getContext());
        builder.setInsertionPointAfter(mul);
        int64_t parts = std::string(type) == "bf16" ? 1 << 10 : 1 << 13;
        auto scale = graph::ScaleOp::create(builder, mul.getLoc(), mul.getResult(), parts + 1, parts);
        mul.getResult().replaceAllUsesExcept(scale.getResult(), scale);
      });
    });
    EXPECT_GT(report.differing, 8 * 40 / 8) << report.summary();
    EXPECT_LT(report.differing, 8 * 40) << report.summary();
    ASSERT_FALSE(report.differences.empty());
    EXPECT_NE(report.differences[0].find("call 'store': result 0 element"), std::string::npos) << report.differences[0];
  }
}

/// Two ranks draw rows of their own, keep their squares in sixteen bits and sum them over dp.
Judged sumOverRanks(const char *type) {
  return {{{"64xf32"}, {in(type, "64xhalf"), Slot::Scratch}},
          "",
          "",
          in(type, R"(module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 1>} {
func.func private @k(%x: tensor<64xf32>) -> tensor<64xhalf> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.mul %x, %x : tensor<64xf32>
  %h = graph.cast %y : tensor<64xf32> -> tensor<64xhalf>
  return %h : tensor<64xhalf>
}
func.func @f(%x: memref<64xf32>, %y: memref<64xhalf>) {
  exec.call @k ins(%x : memref<64xf32>) outs(%y : memref<64xhalf>) accumulate [0]
  return
}
exec.program @train stage 0 micro_batches 1 arena 448 lower_bound 448
    attributes {exec.loss = #exec.place<0 + 0 + 0>, exec.norm = #exec.place<0 + 0 + 0>} {
  exec.buffer 0 workspace "x" size 256 offset 0 live 0 to 3
  exec.buffer 1 workspace "y" size 128 offset 256 live 0 to 3
  exec.buffer 2 workspace "sum" size 64 offset 384 live 0 to 3
  exec.load micro 0 ["in0"] to [#exec.place<0 + 0 + 0>]
  exec.run @f "layer F" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>] role <F>
  exec.exchange all_reduce "all_reduce y" over <dp, [2, 1], []> #exec.place<1 + 0 + 0> to #exec.place<1 + 0 + 0> count 64 half
  exec.exchange reduce_scatter "scatter y" over <dp, [2, 1], []> #exec.place<1 + 0 + 0> to #exec.place<2 + 0 + 0> count 32 half accumulate
}
})")};
}

TEST(NarrowKernel, SumsOverRanks) {
  for (const char *type : {"bf16", "f16"}) {
    verify::KernelReport report = sumOverRanks(type).run();
    EXPECT_TRUE(report.isEqual()) << report.summary();
    EXPECT_EQ(report.elements, 2 * (64 + 64 + 32));
  }
}

TEST(NarrowKernel, IsFoundWhereASumStopsShort) {
  verify::KernelReport report = sumOverRanks("bf16").run([](ModuleOp module) {
    module.walk([](exec::ExchangeOp exchange) {
      if (exchange.getCount() == 64)
        exchange.setCount(63);
    });
  });
  EXPECT_EQ(report.differing, 2) << report.summary();
  ASSERT_FALSE(report.differences.empty());
  EXPECT_NE(report.differences[0].find("action 'all_reduce y', all_reduce: element 63 is"), std::string::npos)
      << report.differences[0];
}

} // namespace
