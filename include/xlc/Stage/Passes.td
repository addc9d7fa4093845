// Passes of the phase Stage, in the order in which they run.
#ifndef XLC_STAGE_PASSES_TD
#define XLC_STAGE_PASSES_TD

include "mlir/Pass/PassBase.td"

def HoistLossGradientPass : Pass<"xlc-hoist-loss-gradient", "::mlir::ModuleOp"> {
  let summary = "what backward of the loss needs of forward and constants alone runs in forward";
  let description = [{
    From the first gradient (`graph.seed`) up to the last product, element by element. One kernel then reads the logits for
    the loss and writes their gradient over them. All stays where forward would have to keep more for backward than before.
    What forward computes already is merged with it.

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
  let summary = "backward computes constants, views, masks and positions again instead of saving them";
  let description = [{
    A residual is memory from forward to backward. What is a constant, or only says how the elements of another
    value are arranged, is made again where backward needs it; so is a SiLU that backward only multiplies by.

        %c = graph.constant dense<0.5>                       // F
        %s = graph.broadcast %c : ... -> tensor<4x32x256xf32> // F, used by backward

    Backward gets a copy of both; nothing of theirs is saved. The same holds for what follows element by element
    from the model's inputs alone: an attention mask costs a loop per layer, saved it would cost memory per layer.

    Stages are balanced by the residuals that remain, so a module with stages is refused.
  }];
}

def AssignStagesPass : Pass<"xlc-assign-stages", "::mlir::ModuleOp"> {
  let summary = "which chunk every op belongs to: consecutive units, balanced or cut where the user says";
  let description = [{
    Units, in the order of their first op, become `chunks` runs for each pp rank. With the module attribute `graph.cuts`
    (the last unit of each run but the last) they are given; else the slowest run is made as fast as possible, by the
    cost table, and among such cuts the largest memory as small as possible: residuals of the micro-batches in flight,
    and of each parameter its master, gradient and states in the types of `@update`. With several chunks per rank, units
    then move over the cuts as long as that makes the slowest rank faster.

        %0 = graph.relu %x {unit = <"layer", 0>}          %0 = graph.relu %x {unit = <"layer", 0>, chunk = 0}
        %1 = graph.relu %0 {unit = <"layer", 1>}    =>    %1 = graph.relu %0 {unit = <"layer", 1>, chunk = 1}

    The module's attribute `graph.stages` says on which pp rank each chunk lies. With one chunk nothing changes.
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
  let summary = "forward of each chunk makes masks, positions and views for itself instead of receiving them";
  let description = [{
    Forward ops of a chunk that read a cheap value of another chunk get copies, one per chunk: a mask is made on every
    pipeline rank rather than sent.

        %f = graph.cast %ids {chunk = 0}                      %f = graph.cast %ids {chunk = 0}
        %0 = graph.mul %w, %f {chunk = 0}                     %0 = graph.mul %w, %f {chunk = 0}
        %1 = graph.mul %0, %f {chunk = 1}               =>    %g = graph.cast %ids {chunk = 1}
                                                              %1 = graph.mul %0, %g {chunk = 1}
  }];
}

def InsertZeroGradientsPass : Pass<"xlc-insert-zero-gradients", "::mlir::ModuleOp"> {
  let summary = "a stage that reads a parameter and has no part in its gradient contributes zero";
  let description = [{
    Stages that hold one parameter sum their contributions and update it alike, so each of them must have one.

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
  let summary = "one function per unit class and pass; @micro_batch becomes a list of calls";
  let description = [{
    The arguments of a unit function are activations, then sites, then parameters; its results are activations and
    residuals, then what is returned from the micro-batch (loss, count, contributions to gradients).
    Instances that are structurally equal share the function.

        %0 = graph.relu %x {unit = <"layer", 0>, role = F}
        %1 = graph.relu %0 {unit = <"layer", 1>, role = F}

    becomes

        func.func private @layer_F(%x) { ... }
        %0 = call @layer_F(%x) {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>}
        %1 = call @layer_F(%0) {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>}

    Backward (I, then W) of a unit is one function, `_B`; with `split-backward` it is two, `_I` and `_W`, and what W
    needs of I is a result of I. All contributions to gradients are then made by W.

    Sites stay outside, so that layers that draw at sites of their own share a function:

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
