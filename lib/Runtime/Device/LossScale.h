// The factor on the loss, step by step. Each rank has its own object and updates it with the same values, so all ranks
// have the same factor.
#ifndef XLC_LIB_RUNTIME_DEVICE_LOSSSCALE_H
#define XLC_LIB_RUNTIME_DEVICE_LOSSSCALE_H

#include "Plan/Plan.h"

namespace xlc::runtime {

/// The state of a loss scale between two steps.
struct LossScaleState {
  float factor = 1;
  uint64_t goodInRow = 0, overflowsLeft = 0, skipped = 0, skippedInRow = 0;
  bool operator==(const LossScaleState &) const = default;
};

/// Doubles the factor after `window` consecutive applied steps, as PyTorch's GradScaler. Halves it, but not below
/// `min`, after `hysteresis` skipped steps, as DeepSpeed's DynamicLossScaler. Skipped steps need not be consecutive;
/// their count restarts when the factor grows.
class LossScale {
public:
  explicit LossScale(const plan::LossScaleT &rule)
      : rule(rule), factor((float)rule.initial), overflowsLeft(rule.hysteresis) {}

  LossScaleState state() const { return {factor, goodInRow, overflowsLeft, skippedSteps, inRow}; }
  /// Restores the state of an earlier run with this number of applied steps. A constant factor is always the one of the
  /// rule.
  void restore(const LossScaleState &state, uint64_t applied);

  /// The factor of the next step.
  float value() const { return factor; }
  /// The number of applied steps so far.
  uint64_t applied() const { return appliedSteps; }
  uint64_t skipped() const { return skippedSteps; }
  /// The number of skipped steps since the last applied one.
  uint64_t skippedInRow() const { return inRow; }
  /// Whether the last step overflowed and the factor cannot be reduced because it is the smallest.
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
