// See DescribeRates.h.
#include "DescribeRates.h"
#include "llvm/Support/Format.h"

using namespace xlc;
using namespace xlc::runtime;

std::optional<RateReport> xlc::describeRates(const Spec &spec) {
  if (!spec.schedule)
    return std::nullopt;
  RateSchedule schedule = *spec.schedule;
  const ScheduleRow &row = schedule.row();
  RateReport report{row.name, {}, {}, {}, {}};
  if (row.find(ScheduleKey::Steps) && schedule.find(ScheduleKey::Steps))
    report.steps = (int64_t)schedule.get(ScheduleKey::Steps);
  bool isOpen = row.find(ScheduleKey::Steps) && !report.steps;
  schedule.setSteps((uint64_t)kMostScheduled);
  auto at = [&](uint64_t t) { return StepRate{(int64_t)t + 1, rateOf(schedule, schedule.firstRate, t)}; };
  report.first = at(0);
  if (!isOpen)
    report.largest = at(findLargestRate(schedule, (uint64_t)schedule.get(ScheduleKey::Steps)));
  if (report.steps)
    report.last = at((uint64_t)*report.steps - 1);
  return report;
}

void xlc::forEachRate(
    const RateReport &rates,
    llvm::function_ref<void(llvm::StringRef name, llvm::StringRef figure, llvm::StringRef remark)> row) {
  auto show = [&](llvm::StringRef name, const std::optional<StepRate> &at) {
    std::string figure;
    if (at)
      llvm::raw_string_ostream(figure) << llvm::format("%.9g", at->rate);
    row(name, figure, at ? "step " + std::to_string(at->step) : "depends on the steps of the run (--steps)");
  };
  show("first", rates.first);
  show("largest", rates.largest);
  show("last", rates.last);
}
