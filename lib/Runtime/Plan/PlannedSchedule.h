// The schedule of learning rates that a plan holds as data.
#ifndef XLC_LIB_RUNTIME_PLAN_PLANNEDSCHEDULE_H
#define XLC_LIB_RUNTIME_PLAN_PLANNEDSCHEDULE_H

#include "Plan.h"
#include "xlc/Runtime/RateSchedules.h"

namespace xlc::runtime {

/// The schedule of a checked plan; constant rates if it has none.
RateSchedule scheduleOf(const Plan &plan);

/// A text by which two schedules are compared: "cosine, warmup 100, min_lr 3e-05".
std::string describeSchedule(const Plan &plan);

} // namespace xlc::runtime

#endif
