// The logical order of the work of all ranks in a step: by micro-batch, then forward before backward, then by stage.
// Earlier work in this order may be the cause of errors in later work.
#ifndef XLC_LIB_RUNTIME_JOB_STEPORDER_H
#define XLC_LIB_RUNTIME_JOB_STEPORDER_H

#include "Plan/Plan.h"

namespace xlc::runtime {

/// The position of an action in that order, and the number of calls of all earlier actions of its program.
struct Moment {
  uint64_t order, calls;
};

/// One moment for each action of a training program. If a rank runs several chunks of the pipeline, the k-th visit of a
/// micro-batch counts as stage k pp + stage; in backward, in reverse. A load or an all_gather has the order of the run
/// that follows it. Every other action that is not a run has the order of the run before it.
std::vector<Moment> momentsOf(const Plan &plan, const plan::ProgramT &program);

/// A key that is smaller for earlier calls and, at equal places, for smaller ranks.
uint64_t keyOfPlace(uint64_t order, uint64_t call, int rank);

/// Whether an action is a unit's run for a micro-batch.
bool isOfMicroBatch(const plan::StepT &step);

} // namespace xlc::runtime

#endif
