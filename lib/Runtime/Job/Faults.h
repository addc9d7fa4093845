// Injected faults (--inject-fault): checks that the plan contains the place of a fault.
#ifndef XLC_LIB_RUNTIME_JOB_FAULTS_H
#define XLC_LIB_RUNTIME_JOB_FAULTS_H

#include "Device/Executor.h"
#include "Files/Parameters.h"

namespace xlc::runtime {

/// Throws Rejected unless the fault names a rank, a step of `steps`, and an action that exist.
void checkFault(const Plan &plan, const Fault &fault, uint64_t steps);

/// If the fault is due, flips the lowest bit of the first element of its tensor that the rank holds.
void flipBit(const Plan &plan, const std::optional<Fault> &fault, int rank, uint64_t step, RankMemory memory);

} // namespace xlc::runtime

#endif
