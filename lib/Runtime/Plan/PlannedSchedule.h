// The schedule of learning rates that a plan holds as data.
#ifndef XLC_LIB_RUNTIME_PLAN_PLANNEDSCHEDULE_H
#define XLC_LIB_RUNTIME_PLAN_PLANNEDSCHEDULE_H

#include "Plan.h"
#include "xlc/Runtime/RateSchedules.h"

namespace xlc::runtime {

/// Of a checked plan. Rates that stay, where it has no schedule.
RateSchedule scheduleOf(const Plan &plan);

/// In words, by which two are compared: "cosine, warmup 100, min_lr 3e-05".
std::string describeSchedule(const Plan &plan);

} // namespace xlc::runtime

#endif
