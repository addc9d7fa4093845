// The evaluations of a run, from the view of one rank: runs the evaluating program step by step over the rows of the
// validation data, and sums the results of all ranks' rows. Every rank gets the same sums, so each determines on its
// own whether the run ends.
#ifndef XLC_LIB_RUNTIME_JOB_EVALUATION_H
#define XLC_LIB_RUNTIME_JOB_EVALUATION_H

#include "Data/Data.h"
#include "Device/Executor.h"
#include "Files/Parameters.h"
#include "Log.h"
#include "MetricValues.h"

#include <functional>

namespace xlc::runtime {

/// The result of an evaluation.
struct EvaluationResult {
  uint64_t step = 0;           ///< the number of completed steps of the run
  uint64_t rows = 0, left = 0; ///< evaluated rows; rows omitted because they fill no global batch
  double seconds = 0;
  EvaluationSums sums;
  std::string bad; ///< on rank 0, if sums are not finite: the number of the invalid data, if any
  std::vector<std::pair<std::string, double>> metrics; ///< in the order of the plan
  bool isBest = false;
};

class Evaluation {
public:
  /// `data`: the rows of the plan's validation. `trace` may be null. All arguments outlive it.
  Evaluation(const JobContext &job, const Data &data, int rank, RankMemory memory, RankTrace *trace);

  /// Whether an evaluation is due after a step of a run that was resumed at `done`; an epoch has `rows` rows.
  static bool isDue(const Plan &plan, const RunProgress &done, uint64_t step, uint64_t rows);

  /// Counted: the rows that the metrics use. All: also the rows after the last whole global batch. The metrics omit
  /// them if the loss has no value for a part of a batch.
  enum class Rows { Counted, All };
  /// Evaluates after a step and judges the result. Returns nothing if `isStopped`, which all ranks call after each
  /// batch, returns true.
  std::optional<EvaluationResult> run(uint64_t step, Rows which, const std::function<bool()> &isStopped);

  Executor &executor() { return program; }
  Judge judge;

private:
  uint64_t countSteps(uint64_t &left) const;
  void addSums(EvaluationSums &sums) const;

  const Plan &plan;
  const Data &data;
  const int rank;
  const RankMemory memory;
  Executor program;
};

/// An evaluation as a record of the log, and as a line for users.
LogRecord recordOf(const EvaluationResult &result);
std::string describe(const EvaluationResult &result);

} // namespace xlc::runtime

#endif
