// Evaluations of a run, as one rank takes part in them: the program that evaluates, step by step over the rows of the
// validation data, and what all ranks' rows add up to. Every rank gets the same sums, so each knows for itself whether
// the run is to end.
#ifndef XLC_LIB_RUNTIME_JOB_EVALUATION_H
#define XLC_LIB_RUNTIME_JOB_EVALUATION_H

#include "Data/Data.h"
#include "Device/Executor.h"
#include "Files/Parameters.h"
#include "Log.h"
#include "MetricValues.h"

#include <functional>

namespace xlc::runtime {

/// What an evaluation came to.
struct EvaluationResult {
  uint64_t step = 0;           ///< that the run had done
  uint64_t rows = 0, left = 0; ///< that were evaluated, and that fill no global batch and were left out
  double seconds = 0;
  EvaluationSums sums;
  std::string bad; ///< on rank 0, of sums that are not finite: the number of the data that is none, where there is one
  std::vector<std::pair<std::string, double>> metrics; ///< as the plan has them
  bool isBest = false;
};

class Evaluation {
public:
  /// `data`: the rows of the plan's validation. `trace` may be null. All arguments outlive it.
  Evaluation(const JobContext &job, const Data &data, int rank, RankMemory memory, RankTrace *trace);

  /// Whether an evaluation is due behind a step of a run that goes on from `done`; an epoch has `rows`.
  static bool isDue(const Plan &plan, const RunProgress &done, uint64_t step, uint64_t rows);

  /// Counted: the rows that the metrics use. All: also the rows behind the last whole global batch, which the metrics
  /// leave out where the loss has no value for a part of a batch.
  enum class Rows { Counted, All };
  /// Evaluates, and judges, behind a step. Nothing where `isStopped`, which all ranks call behind each batch, says so.
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

/// An evaluation in a record of the log, and in a line for people.
LogRecord recordOf(const EvaluationResult &result);
std::string describe(const EvaluationResult &result);

} // namespace xlc::runtime

#endif
