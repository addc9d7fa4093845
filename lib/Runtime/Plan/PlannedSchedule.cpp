// See PlannedSchedule.h. Also checks the schedule that is read there.
#include "PlannedSchedule.h"

#include "PlanCheckers.h"

#include <fmt/format.h>

#include <functional>

namespace xlc::runtime {
namespace {

std::optional<RateCurve> curveOf(const flatbuffers::Optional<uint8_t> &shape) {
  return shape ? std::optional((RateCurve)*shape) : std::nullopt;
}

bool isCurve(const flatbuffers::Optional<uint8_t> &shape) { return !shape || *shape < std::size(kRateCurves); }

} // namespace

RateSchedule scheduleOf(const Plan &plan) {
  RateSchedule schedule;
  schedule.firstRate = plan.groups.empty() ? 0 : plan.groups[0]->lr;
  if (!plan.schedule)
    return schedule;
  const plan::ScheduleT &planned = *plan.schedule;
  schedule.type = (ScheduleType)planned.type;
  for (const plan::ScheduleNumber &number : planned.numbers)
    schedule.numbers[number.key()] = number.value();
  schedule.warmupShape = curveOf(planned.warmup_shape), schedule.decayShape = curveOf(planned.decay_shape);
  schedule.milestones.assign(planned.milestones.begin(), planned.milestones.end());
  return schedule;
}

std::string describeSchedule(const Plan &plan) {
  if (!plan.schedule)
    return std::string(kSchedules[0].name);
  const plan::ScheduleT &schedule = *plan.schedule;
  std::string text(kSchedules[schedule.type].name);
  for (const plan::ScheduleNumber &number : schedule.numbers)
    text += fmt::format(", {} {}", kScheduleKeys[number.key()].name, number.value());
  for (auto [shape, name] :
       {std::pair(curveOf(schedule.warmup_shape), "warmup"), {curveOf(schedule.decay_shape), "decay"}})
    if (shape)
      text += fmt::format(", {} by shape {}", name, (int)*shape);
  if (!schedule.milestones.empty())
    text += fmt::format(", milestones {}", fmt::join(schedule.milestones, " "));
  return text;
}

void ScheduleChecker::check() {
  if (!plan.schedule)
    return;
  const plan::ScheduleT &schedule = *plan.schedule;
  if (schedule.type >= std::size(kSchedules))
    return require(false, "the learning rate schedule has the unknown type {}", schedule.type);
  const ScheduleRow &row = kSchedules[schedule.type];
  std::array<bool, kScheduleKeyCount> isGiven{};
  for (const plan::ScheduleNumber &number : schedule.numbers) {
    if (number.key() >= kScheduleKeyCount || !row.find((ScheduleKey)number.key()) || isGiven[number.key()])
      return require(false, "schedule {} has key {}, which is unknown or repeated", row.name, number.key());
    isGiven[number.key()] = true;
    const ScheduleKeyRow &key = kScheduleKeys[number.key()];
    require(key.allows(number.value()), "schedule {} has an invalid value of {}: {}", row.name, key.name,
            number.value());
  }
  for (const TakenByRate &taken : row.takes)
    require(!taken.isRequired || isGiven[(size_t)taken.key], "schedule {} lacks {}", row.name, rowOf(taken.key).name);
  require(isCurve(schedule.warmup_shape) && isCurve(schedule.decay_shape),
          "schedule {} has an unknown warmup or decay shape", row.name);
  require(std::ranges::is_sorted(schedule.milestones, std::less_equal<>()) &&
              schedule.milestones.empty() == !row.takesMilestones,
          "schedule {} has {} milestones; only multistep has milestones, which must be in ascending order", row.name,
          schedule.milestones.size());
  double first = plan.groups.empty() ? 0 : plan.groups[0]->lr, least = scheduleOf(plan).get(ScheduleKey::MinLr);
  require(least <= first, "schedule {} has min_lr {}, which is above the learning rate of the first group, {}",
          row.name, least, first);
}

} // namespace xlc::runtime
