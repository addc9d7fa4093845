// Learning rates of a plan: those of its first, its largest and its last step, for table and JSON.
#ifndef XLC_LIB_REPORT_DESCRIBERATES_H
#define XLC_LIB_REPORT_DESCRIBERATES_H

#include "xlc/Spec/Spec.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace xlc {

struct StepRate {
  int64_t step; ///< from 1, among those that are applied
  double rate;  ///< of the first group
};

struct RateReport {
  llvm::StringRef type;
  std::optional<int64_t> steps; ///< of the schedule, where it has them; none: the run's
  StepRate first;
  std::optional<StepRate> largest, last; ///< none where the steps of the run decide
};

/// None if the spec has no schedule.
std::optional<RateReport> describeRates(const Spec &spec);

/// Calls row(name, figure, remark) for each of the three, in words.
void forEachRate(const RateReport &rates,
                 llvm::function_ref<void(llvm::StringRef name, llvm::StringRef figure, llvm::StringRef remark)> row);

} // namespace xlc

#endif
