// Passes of the phase Differentiate, in the order in which they run.
#ifndef XLC_DIFFERENTIATE_PASSES_TD
#define XLC_DIFFERENTIATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def DifferentiatePass : Pass<"xlc-differentiate", "::mlir::ModuleOp"> {
  let summary = "turns @forward into @micro_batch: forward, then backward by one rule per op";
  let description = [{
    Backward is seeded with 1 / nominal count, so that the contributions of all micro-batches and ranks sum to the
    gradient of the mean over the nominal number of targets. Contributions to a parameter are one result per unit that
    uses it; those with the same name are added. Every op is assigned a role: F, or I if another unit's backward uses
    it, or W.

        func.func @forward(%w: tensor<3x4xf32> {graph.param = "w"}, %x: tensor<2x3xf32> {graph.input = "x"})
            -> (tensor<f32>, tensor<i64>) {
          %y = graph.contract "ab,bc->ac" %x, %w
          ...
        }

    becomes

        func.func @micro_batch(...) -> (tensor<f32>, tensor<i64>, tensor<3x4xf32> {graph.grad = "w"})
            attributes {graph.entry = #graph.purpose<train>} {
          %y = graph.contract "ab,bc->ac" %x, %w {graph.role = #graph.role<F>}
          ...
          %dw = graph.contract "ac,ab->bc" %dy, %x {graph.role = #graph.role<W>}
          return ..., %dw
        }
  }];
  let dependentDialects = ["::xlc::graph::GraphDialect", "::mlir::func::FuncDialect"];
}

def AppendUpdatePass : Pass<"xlc-append-update", "::mlir::ModuleOp"> {
  let summary = "adds @scalars (loss, norm, clipping) and @update (one optimizer step per parameter)";
  let description = [{
    Reads the module's `graph.groups` (hyper-parameters of each optimizer group), `graph.clip_norm` and
    `graph.nominal_count`, and each parameter's `graph.group`. A parameter with `graph.frozen` is not updated.

        func.func @scalars(%sum, %count, %sum_squares, %applied_before) -> (%loss, %norm, %scale, %applied)
        func.func @update(%params..., %grads..., %states..., %scalars_of_group...) -> (%params..., %states...)

    A step is applied if its loss and its norm are finite and the previous step was applied. Otherwise @update returns
    parameters and states unchanged.
  }];
  let dependentDialects = ["::xlc::graph::GraphDialect", "::mlir::func::FuncDialect"];
}

def VerifyDifferentiatedPass : Pass<"xlc-verify-differentiated", "::mlir::ModuleOp"> {
  let summary = "gate: every trainable parameter has a gradient, every op has a role";
}

#endif // XLC_DIFFERENTIATE_PASSES_TD
