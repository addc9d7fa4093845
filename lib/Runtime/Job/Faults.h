// Faults on purpose (--inject-fault): whether the plan has the place that one names.
#ifndef XLC_LIB_RUNTIME_JOB_FAULTS_H
#define XLC_LIB_RUNTIME_JOB_FAULTS_H

#include "Device/Executor.h"

namespace xlc::runtime {

/// Throws Rejected unless the fault names a rank, a step of `steps`, and an action that exist.
void checkFault(const Plan &plan, const Fault &fault, uint64_t steps);

} // namespace xlc::runtime

#endif
