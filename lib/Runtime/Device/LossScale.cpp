// See LossScale.h.
#include "LossScale.h"

#include <algorithm>
#include <cmath>

namespace xlc::runtime {

void LossScale::restore(const LossScaleState &state, uint64_t applied) {
  appliedSteps = applied, skippedSteps = state.skipped, inRow = state.skippedInRow;
  if (rule.dynamic)
    factor = std::max(state.factor, (float)rule.min), goodInRow = std::min(state.goodInRow, rule.window - 1),
    overflowsLeft = std::clamp<uint64_t>(state.overflowsLeft, 1, rule.hysteresis);
}

void LossScale::endStep(bool isApplied) {
  isApplied ? ++appliedSteps : ++skippedSteps;
  inRow = isApplied ? 0 : inRow + 1;
  goodInRow = isApplied ? goodInRow + 1 : 0;
  spent = false;
  if (!rule.dynamic)
    return;
  if (isApplied && goodInRow == rule.window) {
    goodInRow = 0;
    overflowsLeft = rule.hysteresis;
    if (std::isfinite(2 * factor))
      factor *= 2;
  } else if (!isApplied && overflowsLeft > 1) {
    --overflowsLeft;
  } else if (!isApplied) {
    spent = factor <= (float)rule.min;
    factor = std::max(factor / 2, (float)rule.min);
  }
}

} // namespace xlc::runtime
