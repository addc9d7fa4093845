// The results of evaluations: metrics of the sums over all rows, and a test whether one is the best so far.
#ifndef XLC_LIB_RUNTIME_JOB_METRICVALUES_H
#define XLC_LIB_RUNTIME_JOB_METRICVALUES_H

#include "Checkpoint/Manifest.h"
#include "xlc/Runtime/Metrics.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace xlc::runtime {

/// The sums over all rows of an evaluation; kinds that the program does not count are empty.
struct EvaluationSums {
  double loss = 0, targets = 0;
  std::map<uint64_t, int64_t> top;                                    ///< by k
  std::vector<int64_t> truePositives, falsePositives, falseNegatives; ///< by class
};

/// The value of a metric, as defined by scikit-learn; 0 / 0 is 0, except that the loss over no targets is NaN. In
/// averages of classes with equal weight, a class that neither occurs nor is predicted is omitted. `average`: none
/// means binary for two classes, otherwise macro.
double valueOf(const Metric &metric, std::optional<MetricAverage> average, const EvaluationSums &sums);

/// Judges successive evaluations by the rules of transformers' EarlyStoppingCallback and Trainer.
class Judge {
public:
  /// `patience` 0: the run is never ended. An evaluation is better if it is smaller (or larger) by more than
  /// `minDelta`.
  Judge(bool smallest, uint64_t patience, double minDelta)
      : smallest(smallest), patience(patience), minDelta(minDelta) {}

  /// The state between two evaluations, which checkpoints store; none: there was no evaluation.
  const std::optional<EvaluationState> &state() const { return known; }
  /// Restores the state of an earlier run.
  void continueFrom(const std::optional<EvaluationState> &state);

  /// Adds the evaluation at a step. Returns whether it is the best so far.
  bool add(uint64_t step, double value);
  bool ends() const { return known && patience > 0 && known->notBetter >= patience; }

private:
  double worst() const;

  const bool smallest;
  const uint64_t patience;
  const double minDelta;
  std::optional<EvaluationState> known;
};

} // namespace xlc::runtime

#endif
