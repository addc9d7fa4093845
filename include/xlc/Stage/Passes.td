// Passes of the phase Stage, in the order in which they run.
#ifndef XLC_STAGE_PASSES_TD
#define XLC_STAGE_PASSES_TD

include "mlir/Pass/PassBase.td"

def RematerializeCheapOpsPass : Pass<"xlc-rematerialize-cheap-ops", "::mlir::ModuleOp"> {
  let summary = "backward computes constants, views, masks and positions again instead of saving them";
  let description = [{
    A residual is memory from forward to backward. What is a constant, or only says how the elements of another
    value are arranged, is made again where backward needs it; so is a SiLU that backward only multiplies by.

        %c = graph.constant dense<0.5>                       // F
        %s = graph.broadcast %c : ... -> tensor<4x32x256xf32> // F, used by backward

    Backward gets a copy of both; nothing of theirs is saved. The same holds for what follows element by element
    from the model's inputs alone: an attention mask costs a loop per layer, saved it would cost memory per layer.
  }];
}

def OutlineUnitsPass : Pass<"xlc-outline-units", "::mlir::ModuleOp"> {
  let summary = "one function per unit class and pass; @micro_batch becomes a list of calls";
  let description = [{
    The arguments of a unit function are activations, then parameters; its results are activations and
    residuals, then what is returned from the micro-batch (loss, count, contributions to gradients).
    Instances that are structurally equal share the function.

        %0 = graph.relu %x {unit = <"layer", 0>, role = F}
        %1 = graph.relu %0 {unit = <"layer", 1>, role = F}

    becomes

        func.func private @layer_F(%x) { ... }
        %0 = call @layer_F(%x) {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>}
        %1 = call @layer_F(%0) {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>}

    Backward (I, then W) of a unit is one function, `_B`.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def VerifyStagedPass : Pass<"xlc-verify-staged", "::mlir::ModuleOp"> {
  let summary = "gate: @micro_batch only calls unit functions, each unit once forward and once backward";
}

#endif // XLC_STAGE_PASSES_TD
