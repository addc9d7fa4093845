// The part of a program's plan that says which rank holds what from step to step, without making a program: for what
// the runtime's own code says of checkpoints.
#ifndef XLC_PHASES_PLANOFSTATES_H
#define XLC_PHASES_PLANOFSTATES_H

#include "Plan_generated.h"
#include "xlc/Phases/Phases.h"

namespace xlc {

/// Parameters, buckets, states, programs, mesh and checkpoints. The compilation has been through Memory. Null where
/// that failed, which was said.
std::unique_ptr<plan::PlanT> makePlanOfStates(const Compilation &compilation);

} // namespace xlc

#endif
