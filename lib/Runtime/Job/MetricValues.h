// What evaluations come to: metrics of the sums over all rows, and whether one is the best so far.
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

/// Of all rows of an evaluation; a kind that the program does not count is empty.
struct EvaluationSums {
  double loss = 0, targets = 0;
  std::map<uint64_t, int64_t> top;                                    ///< by k
  std::vector<int64_t> truePositives, falsePositives, falseNegatives; ///< by class
};

/// A metric of them, as scikit-learn defines it; 0 / 0 is 0, but for the loss of no targets, which is not a number.
/// Where classes are averaged with equal weight, one that neither occurs nor is predicted is left out. `average`: none:
/// binary of two classes, else macro.
double valueOf(const Metric &metric, std::optional<MetricAverage> average, const EvaluationSums &sums);

/// Judges evaluations, one after the other, as transformers' EarlyStoppingCallback and its Trainer do.
class Judge {
public:
  /// `patience` 0: nothing ends. One is better where it is smaller (or larger) by more than `minDelta`.
  Judge(bool smallest, uint64_t patience, double minDelta)
      : smallest(smallest), patience(patience), minDelta(minDelta) {}

  /// What is known between two evaluations, and stays in checkpoints; none: there was no evaluation.
  const std::optional<EvaluationState> &state() const { return known; }
  /// Goes on where a run was.
  void continueFrom(const std::optional<EvaluationState> &state);

  /// After an evaluation at a step. Whether it is the best so far.
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
