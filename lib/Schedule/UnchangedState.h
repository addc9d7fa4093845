// What a timeline that does not train must leave as it is, so that training goes on as if it had not run.
#ifndef XLC_LIB_SCHEDULE_UNCHANGEDSTATE_H
#define XLC_LIB_SCHEDULE_UNCHANGEDSTATE_H

#include "xlc/Schedule/Schedule.h"

namespace xlc {

/// No action of the timeline changes what outlives a step.
mlir::LogicalResult verifyUnchangedState(sched::TimelineOp timeline);

} // namespace xlc

#endif
