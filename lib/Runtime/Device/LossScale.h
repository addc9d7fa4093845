// The factor on the loss, step by step. Each rank has one and tells it the same, so all ranks have the same factor.
#ifndef XLC_LIB_RUNTIME_DEVICE_LOSSSCALE_H
#define XLC_LIB_RUNTIME_DEVICE_LOSSSCALE_H

#include "Plan/Plan.h"

namespace xlc::runtime {

/// Where it is between two steps.
struct LossScaleState {
  float factor = 1;
  uint64_t goodInRow = 0, overflowsLeft = 0, skipped = 0, skippedInRow = 0;
  bool operator==(const LossScaleState &) const = default;
};

/// Twice as large after `window` applied steps in a row, as PyTorch's GradScaler; half as large, but not below `min`, after
/// `hysteresis` skipped ones, which need not follow each other and are counted anew when it grows, as DeepSpeed's
/// DynamicLossScaler.
class LossScale {
public:
  explicit LossScale(const plan::LossScaleT &rule)
      : rule(rule), factor((float)rule.initial), overflowsLeft(rule.hysteresis) {}

  LossScaleState state() const { return {factor, goodInRow, overflowsLeft, skippedSteps, inRow}; }
  /// Goes on from where another run was, after so many steps that were applied; a factor that does not move is the
  /// rule's.
  void restore(const LossScaleState &state, uint64_t applied);

  /// Of the step that comes.
  float value() const { return factor; }
  /// Steps until now.
  uint64_t applied() const { return appliedSteps; }
  uint64_t skipped() const { return skippedSteps; }
  /// Those since the last that was applied.
  uint64_t skippedInRow() const { return inRow; }
  /// Whether the last step overflowed and the factor cannot fall: it is the smallest.
  bool isSpent() const { return spent; }

  void endStep(bool isApplied);

private:
  const plan::LossScaleT &rule;
  float factor;
  uint64_t overflowsLeft, goodInRow = 0, appliedSteps = 0, skippedSteps = 0, inRow = 0;
  bool spent = false;
};

} // namespace xlc::runtime

#endif
