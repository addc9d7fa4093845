// Faults on purpose (--inject-fault): whether the plan has the place that one names.
#ifndef XLC_LIB_RUNTIME_JOB_FAULTS_H
#define XLC_LIB_RUNTIME_JOB_FAULTS_H

#include "Device/Executor.h"
#include "Files/Parameters.h"

namespace xlc::runtime {

/// Throws Rejected unless the fault names a rank, a step of `steps`, and an action that exist.
void checkFault(const Plan &plan, const Fault &fault, uint64_t steps);

/// Where the fault is due: flips the lowest bit of the first element that the rank holds of its tensor.
void flipBit(const Plan &plan, const std::optional<Fault> &fault, int rank, uint64_t step, RankMemory memory);

} // namespace xlc::runtime

#endif
