// Passes of the phase Precision, in the order in which they run.
#ifndef XLC_PRECISION_PASSES_TD
#define XLC_PRECISION_PASSES_TD

include "mlir/Pass/PassBase.td"

/// What the spec says of precision.
defvar policy = [
  Option<"compute", "compute", "std::string", "\"bf16\"", "bf16 or f16">,
  Option<"masterless", "masterless", "bool", "false", "parameters have no master: the optimizer updates what is read">,
  Option<"gradients", "narrow-gradients", "bool", "false", "gradients are kept in the type of compute">,
  Option<"states", "narrow-states", "bool", "false", "optimizer states are kept in the type of compute">,
  Option<"stochastic", "stochastic", "bool", "false", "narrow parameters and states are rounded stochastically">];

def NarrowUpdatePass : Pass<"xlc-narrow-update", "::mlir::ModuleOp"> {
  let summary = "what the optimizer keeps becomes narrow, where the spec asks for it";
  let description = [{
    Parameters, gradients and states of @update get the narrow type, but for parameters that `graph.keep` names. The step
    itself stays f32: what it reads is widened, what it gives is rounded once: to nearest, or, with `stochastic`, by random
    bits of each element and step.

        func.func @update(%w: tensor<8xf32> {graph.param = "w"}, %dw: tensor<8xf32> {graph.grad = "w"}, %numbers: tensor<6xf32>)
          %w1 = graph.optimizer_step sgd %w, %dw, %numbers : (tensor<8xf32>, tensor<8xf32>, tensor<6xf32>) -> tensor<8xf32>

    becomes, with `masterless` and `narrow-gradients`,

        func.func @update(%w: tensor<8xbf16> {graph.param = "w"}, %dw: tensor<8xbf16> {graph.grad = "w"}, %numbers: tensor<6xf32>)
          %p = graph.cast %w : tensor<8xbf16> -> tensor<8xf32>
          %g = graph.cast %dw : tensor<8xbf16> -> tensor<8xf32>
          %w1 = graph.optimizer_step sgd %p, %g, %numbers : (tensor<8xf32>, tensor<8xf32>, tensor<6xf32>) -> tensor<8xf32>
          %r = graph.cast %w1 : tensor<8xf32> -> tensor<8xbf16>

    and with `stochastic` the last line

          %e = graph.iota dim 0 : tensor<8xi64>
          %bits = graph.random_bits %e, %keys, %nameOfW : tensor<8xi32>
          %r = graph.stochastic_cast %w1, %bits draw 0 : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xbf16>
  }];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
  let options = policy;
}

def InsertCastsPass : Pass<"xlc-insert-casts", "::mlir::ModuleOp"> {
  let summary = "parameters, operands of products and what is kept become narrow, by casts";
  let description = [{
    Parameters of @micro_batch are read in the narrow type, but for buffers and those that `graph.keep` names; @update keeps
    their master. Products (contractions, attention, convolutions) take narrow operands and sum in f32. Small ops compute
    in f32. A value is rounded once, where it is made: as the result of a product or of a named op, as an operand of a
    product, or where several ops or another unit read it. Statistics and losses stay f32, and so does what depends on
    constants and integers alone. Gradients of parameters have the type that @update reads. With `wide-stream`, sums of two
    activations stay f32, and so do norms that such a sum reads; products round what they read of them.

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
  let options = [Option<"compute", "compute", "std::string", "\"bf16\"", "bf16 or f16">,
                 Option<"wideStream", "wide-stream", "bool", "false", "the residual stream stays f32">];
}

def RoundBiasedOncePass : Pass<"xlc-round-biased-once", "::mlir::ModuleOp"> {
  let summary = "a product to which a bias is added is rounded once, after the bias";
  let description = [{
    Runs in Shard, on the program of one tensor-parallel rank: where ranks add up a product's partial sums, what they send
    each other is rounded before. Libraries add the bias to the sum that they have in f32.

        %h = graph.contract "ab,bc->ac" %x, %w : (tensor<2x8xbf16>, tensor<8x8xbf16>) -> tensor<2x8xbf16>
        %f = graph.cast %h : tensor<2x8xbf16> -> tensor<2x8xf32>
        %s = graph.add %f, %b : tensor<2x8xf32>
        %y = graph.cast %s : tensor<2x8xf32> -> tensor<2x8xbf16>

    becomes, where %b repeats a vector of sixteen bits,

        %h = graph.contract "ab,bc->ac" %x, %w : (tensor<2x8xbf16>, tensor<8x8xbf16>) -> tensor<2x8xf32>
        %s = graph.add %h, %b : tensor<2x8xf32>
        %y = graph.cast %s : tensor<2x8xf32> -> tensor<2x8xbf16>
  }];
}

def RoundEpiloguesOncePass : Pass<"xlc-round-epilogues-once", "::mlir::ModuleOp"> {
  let summary = "a product is rounded once, after all that the target's library does with its sum";
  let description = [{
    Runs in Shard after xlc-round-biased-once, where the target's library has the epilogue: a residual that is added, GELU
    (its approximation by tanh) of a product with a bias, and the gradient of one.

        %h = graph.cast %s : tensor<2x8xf32> -> tensor<2x8xbf16>
        %w = graph.cast %h : tensor<2x8xbf16> -> tensor<2x8xf32>
        %g = graph.gelu tanh %w : tensor<2x8xf32>

    becomes, where %s is a product and its bias,

        %h = graph.cast %s : tensor<2x8xf32> -> tensor<2x8xbf16>
        %g = graph.gelu tanh %s : tensor<2x8xf32>

    and %h is what backward reads. A residual's sum and GELU's gradient read their product as it is in f32.
  }];
  let constructor = "::xlc::createRoundEpiloguesOncePass(target)";
}

def NarrowConvolutionsPass : Pass<"xlc-narrow-convolutions", "::mlir::ModuleOp"> {
  let summary = "convolutions take sixteen bits as they are where the target's library does";
  let description = [{
    A convolution's operands are rounded, and widened for a library that takes f32:

        %xw = graph.cast %x : tensor<2x3x8x8xbf16> -> tensor<2x3x8x8xf32>
        %ww = graph.cast %w : tensor<4x3x3x3xbf16> -> tensor<4x3x3x3xf32>
        %yw = graph.convolution %xw, %ww ... -> tensor<2x4x8x8xf32>
        %y = graph.cast %yw : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xbf16>

    becomes, where the target's library multiplies sixteen bits, adds them up in f32 and rounds the sum once,

        %y = graph.convolution %x, %w ... -> tensor<2x4x8x8xbf16>

    The gradient of weights, which is not rounded else, is rounded once for a micro-batch and widened: for most
    layers cuDNN has no engine that leaves it in f32 (docs/rationale/Gpu.md).
  }];
  let constructor = "::xlc::createNarrowConvolutionsPass(target)";
}

def ScaleLossPass : Pass<"xlc-scale-loss", "::mlir::ModuleOp"> {
  let summary = "gradients are scaled, and training goes on after a step that is skipped";
  let description = [{
    Where the module has a `graph.loss_scale`. Backward's first gradient, which Differentiate marks as `graph.seed`, is
    multiplied by the scale; @scalars scales back the norm and the factor on the gradients. A step that is skipped skips
    none of those that follow.

        func.func @micro_batch(...) {
          %seed = graph.scale %one by 1 over 8 {graph.seed} : tensor<f32>
          %dx = graph.cross_entropy_backward %x, %y, %lse, %seed

    becomes

        func.func @micro_batch(...) {
          %seed = graph.scale %one by 1 over 8 {graph.seed} : tensor<f32>
          %scale = graph.step_number loss_scale : tensor<f32>
          %scaled = graph.mul %seed, %scale : tensor<f32>
          %dx = graph.cross_entropy_backward %x, %y, %lse, %scaled

    and

        func.func @scalars(%sum, %count, %squares, %applied: tensor<f32>) {
          ...
          %now = graph.select %skipped, %zero, %applied

        func.func @scalars(%sum, %count, %squares, %scale: tensor<f32>) {
          ...
          %now = graph.select %skipped, %zero, %one
  }];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
}

def VerifyPrecisionPass : Pass<"xlc-verify-precision", "::mlir::ModuleOp"> {
  let summary = "gate: products take narrow operands, gradients are not rounded, each parameter has one master";
  let description = [{
    Says, of the narrow type `compute`: operands of contractions and attention are narrow, but for biases; no other narrow
    type occurs; what is rounded is no statistic, no loss, no gradient of a parameter; contributions to one gradient have
    the type of the gradient in @update; and what @update has of each parameter, that parameter, gradient and states, is f32,
    once, but for what the options say is narrow; and that what is narrow there is rounded as the options say.
    With a loss scale: backward's first gradient, and nothing else, is multiplied by it, once; and every update can be
    skipped. That gradients are scaled back exactly once is what xlc verify proves.
  }];
  let options = policy;
}

#endif // XLC_PRECISION_PASSES_TD
