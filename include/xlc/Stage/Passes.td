// Passes of the phase Stage, in the order in which they run.
#ifndef XLC_STAGE_PASSES_TD
#define XLC_STAGE_PASSES_TD

include "mlir/Pass/PassBase.td"

def HoistLossGradientPass : Pass<"xlc-hoist-loss-gradient", "::mlir::ModuleOp"> {
  let summary = "moves the part of the loss's backward that depends only on forward and constants into forward";
  let description = [{
    Moves ops element by element, from the first gradient (`graph.seed`) to the last product. One kernel then reads the
    logits for the loss and overwrites them with their gradient. Nothing moves if forward would have to keep more memory
    for backward than before. Moved ops are merged with equal ops of forward.

        %sum, %count, %lse = graph.cross_entropy %logits, %labels {role = F}
        %d = graph.cross_entropy_backward %logits, %labels, %lse, %seed {role = I}
        %dx = graph.contract "az,zy->ay" %d, %w {role = I}

    becomes

        %sum, %count, %lse = graph.cross_entropy %logits, %labels {role = F}
        %d = graph.cross_entropy_backward %logits, %labels, %lse, %seed {role = F}
        %dx = graph.contract "az,zy->ay" %d, %w {role = I}
  }];
}

def RematerializeCheapOpsPass : Pass<"xlc-rematerialize-cheap-ops", "::mlir::ModuleOp"> {
  let summary = "recomputes constants, views, masks and positions in backward instead of saving them";
  let description = [{
    A residual is memory that is live from forward to backward. Constants, and ops that only rearrange the elements of
    another value, are recomputed where backward uses them. So is a SiLU that backward only multiplies by.

        %c = graph.constant dense<0.5>                       // F
        %s = graph.broadcast %c : ... -> tensor<4x32x256xf32> // F, used by backward

    Backward receives a copy of both, and neither is saved. The same holds for values that are computed element by
    element from the model's inputs alone: recomputing an attention mask costs a loop per layer, saving it would cost
    memory per layer.

    Stages are balanced by the remaining residuals, so the pass rejects a module that has stages.
  }];
}

def AssignStagesPass : Pass<"xlc-assign-stages", "::mlir::ModuleOp"> {
  let summary = "assigns every op to a chunk: consecutive units, balanced or cut as the user specifies";
  let description = [{
    Units, in the order of their first op, become `chunks` runs for each pp rank. The module attribute `graph.cuts` (the
    last unit of each run but the last) sets the cuts. Without it the slowest run is made as fast as possible, by the
    cost table, and among such cuts the largest memory as small as possible: residuals of the micro-batches in flight,
    and for each parameter its master, gradient and states in the types of `@update`. With several chunks per rank,
    units then move across the cuts while that makes the slowest rank faster.

        %0 = graph.relu %x {unit = <"layer", 0>}          %0 = graph.relu %x {unit = <"layer", 0>, chunk = 0}
        %1 = graph.relu %0 {unit = <"layer", 1>}    =>    %1 = graph.relu %0 {unit = <"layer", 1>, chunk = 1}

    The module's attribute `graph.stages` lists the pp rank of each chunk. With one chunk nothing changes.
  }];
  let dependentDialects = ["::xlc::dist::DistDialect"];
  let options = [
    Option<"chunks", "chunks", "int64_t", "1", "chunks per pp rank">,
    Option<"schedule", "schedule", "std::string", "\"1f1b\"", "name of the pipeline schedule">,
    Option<"microBatches", "micro-batches", "int64_t", "1", "micro-batches of a step">,
    Option<"flopsPerByte", "flops-per-byte", "int64_t", "8", "the target's: operations in the time that moves a byte">
  ];
}

def CopyIntoChunksPass : Pass<"xlc-copy-into-chunks", "::mlir::ModuleOp"> {
  let summary = "computes masks, positions and views in each chunk's forward instead of sending them";
  let description = [{
    Forward ops of a chunk that read a cheap value of another chunk get copies, one per chunk: a mask is computed on
    every pipeline rank and not sent.

        %f = graph.cast %ids {chunk = 0}                      %f = graph.cast %ids {chunk = 0}
        %0 = graph.mul %w, %f {chunk = 0}                     %0 = graph.mul %w, %f {chunk = 0}
        %1 = graph.mul %0, %f {chunk = 1}               =>    %g = graph.cast %ids {chunk = 1}
                                                              %1 = graph.mul %0, %g {chunk = 1}
  }];
}

def InsertZeroGradientsPass : Pass<"xlc-insert-zero-gradients", "::mlir::ModuleOp"> {
  let summary = "adds a zero gradient in stages that read a parameter but do not contribute to its gradient";
  let description = [{
    Stages that share a parameter sum their contributions and apply the same update, so each of them must have one.

        %m = graph.compare lt %z, %w {chunk = 1}                  // of stage 1, which has no gradient of %w
        return %dw : ... (tensor<4xf32> {graph.grad = "w"})       // from stage 0

    becomes

        %m = graph.compare lt %z, %w {chunk = 1}
        %0 = graph.constant {chunk = 1, role = W} dense<0.0> : tensor<4xf32>
        return %dw, %0 : ... (tensor<4xf32> {graph.grad = "w"}, tensor<4xf32> {graph.grad = "w"})
  }];
  let dependentDialects = ["::xlc::dist::DistDialect"];
}

def OutlineUnitsPass : Pass<"xlc-outline-units", "::mlir::ModuleOp"> {
  let summary = "creates one function per unit class and pass; @micro_batch becomes a list of calls";
  let description = [{
    The arguments of a unit function are activations, then sites, then parameters; its results are activations and
    residuals, then the results of the micro-batch (loss, count, contributions to gradients). Instances that are
    structurally equal share the function.

        %0 = graph.relu %x {unit = <"layer", 0>, role = F}
        %1 = graph.relu %0 {unit = <"layer", 1>, role = F}

    becomes

        func.func private @layer_F(%x) { ... }
        %0 = call @layer_F(%x) {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>}
        %1 = call @layer_F(%0) {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>}

    Backward (I, then W) of a unit is one function, `_B`. With `split-backward` it is two, `_I` and `_W`; the values of
    I that W uses are results of I, and W makes all contributions to gradients.

    Sites are arguments, so that layers with different sites share a function:

        %site = graph.site 3 : tensor<i64>
        %1 = call @layer_F(%0, %site) {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>}
  }];
  let options = [Option<"splitBackward", "split-backward", "bool", "false", "one function for I and one for W">];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def VerifyStagedPass : Pass<"xlc-verify-staged", "::mlir::ModuleOp"> {
  let summary = "gate: entries only call unit functions, each unit once forward and once backward";
}

#endif // XLC_STAGE_PASSES_TD
