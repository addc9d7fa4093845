// The state that a timeline without training must not change, so that training continues as if it had not run.
#ifndef XLC_LIB_SCHEDULE_UNCHANGEDSTATE_H
#define XLC_LIB_SCHEDULE_UNCHANGEDSTATE_H

#include "xlc/Schedule/Schedule.h"

namespace xlc {

/// Verifies that no action of the timeline changes state that outlives a step.
mlir::LogicalResult verifyUnchangedState(sched::TimelineOp timeline);

} // namespace xlc

#endif
