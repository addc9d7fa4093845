// Passes on timelines, in the order in which they run. The first makes them, at the end of DataParallel.
#ifndef XLC_SCHEDULE_PASSES_TD
#define XLC_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def InsertActionsPass : Pass<"xlc-insert-actions", "::mlir::ModuleOp"> {
  let summary = "turns @micro_batch into the timelines of a step, one per pipeline stage";
  let description = [{
    A stage runs its chunks in the order of the schedule. Values that cross stages are sent to the next stage in the
    order of chunks, and relayed if they go further. All messages have one global order, by the time at which they are
    ready in the simulated schedule, and occur in this order on both sides.

    Each micro-batch loads its rows and runs the unit functions. A sharded bucket is gathered before a run that reads it
    and released after, unless the next run also reads it. With `keep-gathered` it is released after its last use in the
    step, in any micro-batch. A gradient's first contribution of a step (of a micro-batch, if only the shard is kept)
    writes, later ones add. Reductions follow the last contribution.

        sched.collective all_gather @b           // stage 3
        %y = sched.run @layer_F ...
        sched.release @b
        ...
        sched.run @layer_B ... stores ["w"] accumulate [false]
        sched.collective reduce_scatter @b
        sched.norm @b
        sched.all_reduce_scalars ["@loss_sum", ...]
        sched.scalars @scalars
        sched.update @b
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"1f1b\"", "name of the pipeline schedule">,
    Option<"microBatches", "micro-batches", "int64_t", "1", "micro-batches of a step">,
    Option<"keepGathered", "keep-gathered", "bool", "false", "release a gathered bucket after its last use in the step only">
  ];
  let dependentDialects = ["::xlc::sched::SchedDialect"];
}

def PrefetchGathersPass : Pass<"xlc-prefetch-gathers", "::mlir::ModuleOp"> {
  let summary = "starts gathers some units before their use, under a byte budget";
  let description = [{
    A gather moves up over at most `units` runs, as long as the gathered bytes live at any point on the way are within
    `bytes` (0: no limit), and never over an action on the same bucket. If it meets its own release, both are removed:
    the bucket stays whole.

        sched.run @layer_F <"layer", 0> ...         sched.collective all_gather @b1
        sched.release @b0                     =>    sched.run @layer_F <"layer", 0> ...
        sched.collective all_gather @b1             sched.release @b0
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
    Every slot takes one column; `.` is a rank that waits. If a rank has several chunks they are named a, b, ... The
    lines are comments on the standard output; the program is not changed.

        // 0 | F0 F1 F2 .  .  B0 F3 B1 .  B2 .  B3
        // 1 | .  F0 F1 .  B0 F2 B1 F3 B2 .  B3
        // 2 | .  .  F0 B0 F1 B1 F2 B2 F3 B3
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"1f1b\"", "name of the schedule">,
    Option<"pp", "pp", "int64_t", "1", "pipeline stages' ranks">,
    Option<"chunks", "chunks", "int64_t", "1", "chunks per rank">,
    Option<"microBatches", "micro-batches", "int64_t", "1", "micro-batches of a step">
  ];
}

#endif // XLC_SCHEDULE_PASSES_TD
