// The rules of the cost table give the counts of the literature.
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Estimate/Cost.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;

namespace {

struct CostTest : testing::Test {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;

  CostTest() { context.loadDialect<func::FuncDialect, graph::GraphDialect, exec::ExecDialect>(); }
  Cost costOf(StringRef kernel) {
    module = parseSourceString<ModuleOp>(kernel, &context);
    return costOfKernel(*module->getOps<func::FuncOp>().begin());
  }
};

TEST_F(CostTest, ContractionIsTwoPerMultiplyAdd) {
  Cost cost = costOf(R"(func.func @kernel(%x: tensor<3x5x7xf32>, %w: tensor<7x11xf32>) -> tensor<3x5x11xf32> {
    %y = graph.contract "abc,cd->abd" %x, %w : (tensor<3x5x7xf32>, tensor<7x11xf32>) -> tensor<3x5x11xf32>
    return %y : tensor<3x5x11xf32>
  })");
  EXPECT_EQ(cost.flops, 2 * 3 * 5 * 7 * 11);
  EXPECT_EQ(cost.matrixFlops(), cost.flops);
  EXPECT_EQ(cost.bytes, 4 * (3 * 5 * 7 + 7 * 11 + 3 * 5 * 11));
}

// A letter that only one operand has is kept (a broadcast), never summed twice.
TEST_F(CostTest, SummedFactorsCountOnce) {
  Cost cost = costOf(R"(func.func @kernel(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> tensor<f32> {
    %z = graph.contract "ab,ab->" %x, %y : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<f32>
    return %z : tensor<f32>
  })");
  EXPECT_EQ(cost.flops, 2 * 4 * 6);
}

TEST_F(CostTest, CausalAttentionIsHalf) {
  auto text = [](std::string mask, std::string attributes = "") {
    return "func.func @kernel(%q: tensor<2x8x3x4xf32>) -> tensor<2x8x3x4xf32> { %o, %l = graph.attention " + mask +
           " %q, %q, %q scale 5.000000e-01" + attributes +
           " : (tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> "
           "(tensor<2x8x3x4xf32>, tensor<2x3x8xf32>)\n return %o : tensor<2x8x3x4xf32> }";
  };
  Quantity full = costOf(text("none")).flops;
  EXPECT_EQ(full, 4 * 2 * 3 * 8 * 8 * 4);
  EXPECT_EQ(costOf(text("causal")).flops, full / 2);
  // Of 64 pairs: the diagonal and one below; the same and one above.
  EXPECT_EQ(costOf(text("causal", " {window = 2 : i64}")).flops, full / 64 * 15);
  EXPECT_EQ(costOf(text("none", " {window = 2 : i64}")).flops, full / 64 * 22);
}

TEST_F(CostTest, KernelsAreNamedByTheirWork) {
  auto workOf = [&](std::string body, std::string kind) {
    module = parseSourceString<ModuleOp>(
        "func.func @kernel(%x: tensor<4x4xf32>, %q: tensor<2x8x3x4xf32>) attributes {exec.kind = "
        "#exec.kernel<" +
            kind + ">} { " + body + "\n return }",
        &context);
    return getName(workOfKernel(*module->getOps<func::FuncOp>().begin()));
  };
  EXPECT_EQ(workOf("%y = graph.exp %x : tensor<4x4xf32>", "loop"), "element_wise");
  EXPECT_EQ(workOf("%y = graph.softmax %x : tensor<4x4xf32>", "rows"), "rows");
  EXPECT_EQ(workOf("%y = graph.reduce sum %x dims [0] : tensor<4x4xf32> -> tensor<4xf32>", "columns"), "sums");
  EXPECT_EQ(workOf("%y = graph.sum_squares %x : tensor<4x4xf32> -> tensor<f64>", "all"), "sums");
  EXPECT_EQ(workOf(R"(%y = graph.contract "ab,bc->ac" %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>)",
                   "library"),
            "products");
  EXPECT_EQ(workOf("%y, %l = graph.attention causal %q, %q, %q scale 5.000000e-01 : (tensor<2x8x3x4xf32>, "
                   "tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> (tensor<2x8x3x4xf32>, tensor<2x3x8xf32>)",
                   "library"),
            "attention");
}

TEST_F(CostTest, StepCountsEveryRun) {
  module = parseSourceString<ModuleOp>(R"(
    func.func private @kernel(%x: tensor<8xf32>) -> tensor<8xf32> {
      %y = graph.exp %x : tensor<8xf32>
      return %y : tensor<8xf32>
    }
    func.func private @layer_F(%x: memref<8xf32>) {
      exec.call @kernel ins(%x : memref<8xf32>) outs(%x : memref<8xf32>) accumulate [0]
      exec.call @kernel ins(%x : memref<8xf32>) outs(%x : memref<8xf32>) accumulate [0]
      return
    }
    exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
      exec.buffer 0 workspace "x" size 32 offset 0 live 0 to 2
      exec.run @layer_F "layer[0] F" micro 0 first true [#exec.place<0 + 0 + 0>] role <F>
      exec.run @layer_F "layer[1] F" micro 0 first true [#exec.place<0 + 0 + 0>] role <F>
      exec.run @layer_F "layer[1] B" micro 0 first true [#exec.place<0 + 0 + 0>] role <B>
    })",
                                       &context);
  StepCost cost = costOfStep(*module->getOps<exec::ProgramOp>().begin());
  EXPECT_EQ(cost.forward.flops, 2 * 2 * 8);
  EXPECT_EQ(cost.backward.flops, 2 * 8);
  EXPECT_EQ(cost.update.flops, 0);
  EXPECT_EQ(cost.total().bytes, 3 * 2 * 64);
}

} // namespace
