// The order of what ranks do in a step, as a person would tell it: micro-batch after micro-batch, forward before
// backward, stage after stage. What comes earlier in it may be the cause of what comes later.
#ifndef XLC_LIB_RUNTIME_JOB_STEPORDER_H
#define XLC_LIB_RUNTIME_JOB_STEPORDER_H

#include "Plan/Plan.h"

namespace xlc::runtime {

/// Where an action stands in that order, and the calls of all actions of its program before it.
struct Moment {
  uint64_t order, calls;
};

/// One for each action of a program that trains. Where a rank runs several chunks of the pipeline, the k-th visit of a
/// micro-batch counts as stage k pp + stage, in backward in reverse. A load or an all_gather has the order of the run
/// that follows it, every other action that is not a run that of the run before it.
std::vector<Moment> momentsOf(const Plan &plan, const plan::ProgramT &program);

/// One number that is smaller the earlier a call comes, of equal places the smaller the rank is.
uint64_t keyOfPlace(uint64_t order, uint64_t call, int rank);

/// Whether an action is a unit's run, of a micro-batch.
bool isOfMicroBatch(const plan::StepT &step);

} // namespace xlc::runtime

#endif
