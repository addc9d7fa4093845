// Passes of the phase Precision, in the order in which they run.
#ifndef XLC_PRECISION_PASSES_TD
#define XLC_PRECISION_PASSES_TD

include "mlir/Pass/PassBase.td"

/// The options of the spec's precision.
defvar policy = [
  Option<"compute", "compute", "std::string", "\"bf16\"", "bf16 or f16">,
  Option<"masterless", "masterless", "bool", "false", "parameters have no master: the optimizer updates what is read">,
  Option<"gradients", "narrow-gradients", "bool", "false", "gradients are kept in the type of compute">,
  Option<"states", "narrow-states", "bool", "false", "optimizer states are kept in the type of compute">,
  Option<"stochastic", "stochastic", "bool", "false", "narrow parameters and states are rounded stochastically">];

def NarrowUpdatePass : Pass<"xlc-narrow-update", "::mlir::ModuleOp"> {
  let summary = "makes the optimizer's parameters, gradients and states narrow, as specified";
  let description = [{
    Parameters, gradients and states of @update get the narrow type, except for parameters with `graph.keep`. The step
    itself is computed in f32: its operands are widened, and its results rounded once: to nearest, or, with
    `stochastic`, by random bits of each element and step.

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
  let summary = "makes parameters, operands of products and residuals narrow, by casts";
  let description = [{
    Parameters of @micro_batch are read in the narrow type, except for buffers and those with `graph.keep`; @update has
    their master. Products (contractions, attention, convolutions) have narrow operands and sum in f32. Small ops
    compute in f32. A value is rounded once, at its definition: as the result of a product or of a named op, as an
    operand of a product, or if several ops or another unit read it. Statistics and losses are f32, and so are values
    that depend only on constants and integers. Gradients of parameters have the type that @update reads. With
    `wide-stream`, sums of two activations are f32, and so are norms that read such a sum; products round these
    operands.

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
  let summary = "rounds a product with a bias once, after the bias";
  let description = [{
    Runs in Shard, on the program of one tensor-parallel rank: if ranks sum the partial sums of a product, these are
    rounded before they are sent. Libraries add the bias to their f32 sum.

        %h = graph.contract "ab,bc->ac" %x, %w : (tensor<2x8xbf16>, tensor<8x8xbf16>) -> tensor<2x8xbf16>
        %f = graph.cast %h : tensor<2x8xbf16> -> tensor<2x8xf32>
        %s = graph.add %f, %b : tensor<2x8xf32>
        %y = graph.cast %s : tensor<2x8xf32> -> tensor<2x8xbf16>

    becomes, if %b broadcasts a vector of sixteen bits,

        %h = graph.contract "ab,bc->ac" %x, %w : (tensor<2x8xbf16>, tensor<8x8xbf16>) -> tensor<2x8xf32>
        %s = graph.add %h, %b : tensor<2x8xf32>
        %y = graph.cast %s : tensor<2x8xf32> -> tensor<2x8xbf16>
  }];
}

def RoundEpiloguesOncePass : Pass<"xlc-round-epilogues-once", "::mlir::ModuleOp"> {
  let summary = "rounds a product once, after all operations of the target's library on its sum";
  let description = [{
    Runs in Shard after xlc-round-biased-once, if the target's library has the epilogue: adding a residual, GELU (its
    approximation by tanh) of a product with a bias, and the gradient of one.

        %h = graph.cast %s : tensor<2x8xf32> -> tensor<2x8xbf16>
        %w = graph.cast %h : tensor<2x8xbf16> -> tensor<2x8xf32>
        %g = graph.gelu tanh %w : tensor<2x8xf32>

    becomes, if %s is a product with its bias,

        %h = graph.cast %s : tensor<2x8xf32> -> tensor<2x8xbf16>
        %g = graph.gelu tanh %s : tensor<2x8xf32>

    where %h is read by backward. A residual's sum and GELU's gradient read their product in f32.
  }];
  let constructor = "::xlc::createRoundEpiloguesOncePass(target)";
}

def NarrowConvolutionsPass : Pass<"xlc-narrow-convolutions", "::mlir::ModuleOp"> {
  let summary = "removes the widening of convolution operands if the target's library supports sixteen bits";
  let description = [{
    A convolution's operands are rounded, and widened for a library that requires f32:

        %xw = graph.cast %x : tensor<2x3x8x8xbf16> -> tensor<2x3x8x8xf32>
        %ww = graph.cast %w : tensor<4x3x3x3xbf16> -> tensor<4x3x3x3xf32>
        %yw = graph.convolution %xw, %ww ... -> tensor<2x4x8x8xf32>
        %y = graph.cast %yw : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xbf16>

    becomes, if the target's library multiplies sixteen bits, sums in f32 and rounds the sum once,

        %y = graph.convolution %x, %w ... -> tensor<2x4x8x8xbf16>

    The gradient of weights, which is otherwise not rounded, is rounded once per micro-batch and widened: for most
    layers cuDNN has no engine with an f32 result (docs/rationale/Gpu.md).
  }];
  let constructor = "::xlc::createNarrowConvolutionsPass(target)";
}

def ScaleLossPass : Pass<"xlc-scale-loss", "::mlir::ModuleOp"> {
  let summary = "scales gradients, and continues training after a skipped step";
  let description = [{
    Applies if the module has a `graph.loss_scale`. Backward's first gradient, which Differentiate marks as
    `graph.seed`, is multiplied by the scale; @scalars divides the norm and the factor on the gradients by it. A skipped
    step does not cause later steps to be skipped.

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
  let summary = "gate: products have narrow operands, gradients are not rounded, each parameter has one master";
  let description = [{
    Checks, for the narrow type `compute`: operands of contractions and attention are narrow, except for biases; there
    is no other narrow type; rounded values are not statistics, losses, or gradients of parameters; contributions to one
    gradient have the type of the gradient in @update; @update has for each parameter one f32 parameter, gradient and
    set of states, except for those that the options make narrow; and these are rounded as the options specify. With a
    loss scale: backward's first gradient, and no other value, is multiplied by it, once; and every update can be
    skipped. xlc verify proves that gradients are scaled back exactly once.
  }];
  let options = policy;
}

#endif // XLC_PRECISION_PASSES_TD
