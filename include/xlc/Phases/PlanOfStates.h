// The part of a program's plan that describes the data that each rank keeps from step to step, without making a
// program. The code of the runtime that describes checkpoints uses it.
#ifndef XLC_PHASES_PLANOFSTATES_H
#define XLC_PHASES_PLANOFSTATES_H

#include "Plan_generated.h"
#include "xlc/Phases/Phases.h"

namespace xlc {

/// Parameters, buckets, states, programs, mesh and checkpoints. Requires a compilation after Memory. Returns null if
/// this fails, after a diagnostic.
std::unique_ptr<plan::PlanT> makePlanOfStates(const Compilation &compilation);

} // namespace xlc

#endif
