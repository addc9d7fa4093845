// The timeline of one pipeline stage, from the schedule's order of slots.
#ifndef XLC_LIB_SCHEDULE_STAGETIMELINE_H
#define XLC_LIB_SCHEDULE_STAGETIMELINE_H

#include "StepRuns.h"

namespace xlc {

/// The common properties of the timelines of all stages.
struct Step {
  mlir::ModuleOp module;
  graph::Entry entry;
  dist::MeshAttr mesh;
  int64_t microBatches = 1;
  bool keepsGathered = false; ///< sharded parameters are gathered once per step
  std::vector<UnitRun> runs;
  PipelineOrder order;
  PipelineTimes times;
  std::vector<Transfer> transfers;
  int64_t firstMessage = 0; ///< the number of the first of them
  llvm::SmallVector<sched::BucketOp> buckets;
  llvm::DenseMap<mlir::Attribute, sched::BucketOp> bucketOf; ///< by parameter
  const PipelineSchedule *schedule = nullptr;
  PipelineShape shape;

  int64_t rankOf(int64_t chunk) const { return schedule->rankOf(shape, chunk); }
};

/// Appends the actions of `stage` to the timeline's body.
void buildTimeline(const Step &step, sched::TimelineOp timeline);

} // namespace xlc

#endif
