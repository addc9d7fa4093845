// Passes of the phase Schedule, in the order in which they run.
#ifndef XLC_SCHEDULE_PASSES_TD
#define XLC_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrefetchGathersPass : Pass<"xlc-prefetch-gathers", "::mlir::ModuleOp"> {
  let summary = "starts gathers some units before their use, under a byte budget";
  let description = [{
    A gather moves up over at most `units` runs, as long as the gathered bytes live at any point of the way stay within
    `bytes` (0: no limit), never over an action on the same bucket. One that meets its own release on the way makes both
    needless: the bucket stays whole.

        sched.run @layer_F <"layer", 0> ...         sched.all_gather @b1
        sched.release @b0                     =>    sched.run @layer_F <"layer", 0> ...
        sched.all_gather @b1                        sched.release @b0
        sched.run @layer_F <"layer", 1> ...         sched.run @layer_F <"layer", 1> ...
  }];
  let options = [
    Option<"units", "units", "int64_t", "1", "how many runs ahead">,
    Option<"bytes", "bytes", "int64_t", "0", "limit on gathered bytes, 0: none">
  ];
  let dependentDialects = ["::xlc::sched::SchedDialect"];
}

def VerifyTimelinePass : Pass<"xlc-verify-timeline", "::mlir::ModuleOp"> {
  let summary = "gate: storage is used only while it is valid, each gradient is reduced exactly once, all ranks run to the end";
  let description = [{
    Walks the timeline with the state of every bucket: parameters whole or not, gradients missing, partial (this
    rank's contributions), or reduced. Then simulates all ranks against each other: every collective must be met by
    all its group in the same order.
  }];
}

def PrintGridPass : Pass<"xlc-print-grid", "::mlir::ModuleOp"> {
  let summary = "prints a pipeline schedule as a grid, a row per pp rank";
  let description = [{
    Every slot takes one column; `.` is a rank that waits. Where a rank has several chunks they are called a, b, ...
    The lines are comments on the standard output; the program is not changed.

        // 0 | F0 F1 F2 .  .  B0 F3 B1 .  B2 .  B3
        // 1 | .  F0 F1 .  B0 F2 B1 F3 B2 .  B3
        // 2 | .  .  F0 B0 F1 B1 F2 B2 F3 B3
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"1f1b\"", "name of the schedule">,
    Option<"ranks", "ranks", "int64_t", "1", "pp">,
    Option<"chunks", "chunks", "int64_t", "1", "chunks per rank">,
    Option<"microBatches", "micro-batches", "int64_t", "1", "micro-batches of a step">
  ];
}

#endif // XLC_SCHEDULE_PASSES_TD
