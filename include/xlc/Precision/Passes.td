// Passes of the phase Precision, in the order in which they run.
#ifndef XLC_PRECISION_PASSES_TD
#define XLC_PRECISION_PASSES_TD

include "mlir/Pass/PassBase.td"

def InsertCastsPass : Pass<"xlc-insert-casts", "::mlir::ModuleOp"> {
  let summary = "parameters, operands of products and what is kept become narrow, by casts";
  let description = [{
    Parameters of @micro_batch are read in the narrow type, but for buffers and those that `graph.keep` names; @update keeps
    their master. Products (contractions, attention, convolutions) take narrow operands and sum in f32. Small ops compute
    in f32. A value is rounded once, where it is made: as the result of a product or of a named op, as an operand of a
    product, or where several ops or another unit read it. Statistics, losses and gradients of parameters stay f32, and so
    does what depends on constants and integers alone.

        func.func @micro_batch(%w: tensor<8x8xf32> {graph.param = "w"}, %x: tensor<2x8xf32>) {
          %h = graph.contract "ab,bc->ac" %x, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
          %y = graph.gelu tanh %h : tensor<2x8xf32>

    becomes

        func.func @micro_batch(%w: tensor<8x8xbf16> {graph.param = "w"}, %x: tensor<2x8xf32>) {
          %n = graph.cast %x : tensor<2x8xf32> -> tensor<2x8xbf16>
          %h = graph.contract "ab,bc->ac" %n, %w : (tensor<2x8xbf16>, tensor<8x8xbf16>) -> tensor<2x8xbf16>
          %f = graph.cast %h : tensor<2x8xbf16> -> tensor<2x8xf32>
          %g = graph.gelu tanh %f : tensor<2x8xf32>
          %y = graph.cast %g : tensor<2x8xf32> -> tensor<2x8xbf16>
  }];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
  let options = [Option<"compute", "compute", "std::string", "\"bf16\"", "bf16 or f16">];
}

def VerifyPrecisionPass : Pass<"xlc-verify-precision", "::mlir::ModuleOp"> {
  let summary = "gate: products take narrow operands, gradients are not rounded, each parameter has one master";
  let description = [{
    Says, of the narrow type `compute`: operands of contractions and attention are narrow, but for biases; no other narrow
    type occurs; what is rounded is no statistic, no loss, no gradient of a parameter; contributions to one gradient have
    the type of the parameter in @update, which is f32; and every parameter that @micro_batch reads narrow is f32 there.
  }];
  let options = [Option<"compute", "compute", "std::string", "\"bf16\"", "bf16 or f16">];
}

#endif // XLC_PRECISION_PASSES_TD
