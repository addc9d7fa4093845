// What one rank of a crew does from its first step to its last: steps that train, and behind them what is due: norms of
// parameters, evaluations, checkpoints. Or, in their place, an evaluation, predictions, or generated tokens. All ranks
// of a job decide alike, from what all see when they have met.
#ifndef XLC_LIB_RUNTIME_JOB_RANKSTEPS_H
#define XLC_LIB_RUNTIME_JOB_RANKSTEPS_H

#include "CrewState.h"

namespace xlc::runtime {

class RankSteps {
public:
  /// Of a rank that has its memory, states and executors.
  RankSteps(CrewState &crew, int rank);
  void run();

private:
  bool isLast() const;
  bool isTraining() const { return !crew.options.evaluates && !crew.generation; }
  void replaceTraining();
  void train();
  /// What is due behind the step; all have met.
  void logNorms();
  void evaluateIfDue();
  /// The evaluation behind the last step of the run before, where that was stopped before its end.
  void evaluateAnew();
  void evaluate();
  /// Whether a signal ends what is under way: the same of all ranks, which meet.
  bool isStopped();
  void writeCheckpointIfDue();
  void writeCheckpoint(bool isLast);
  /// Shows steps up to this one, whose numbers are read late on a device that runs ahead.
  void endUntil(uint64_t last);
  void endStep(uint64_t number);
  void reportEnd();
  void examineFailedStep();
  /// Says which value of a step was the first that is not finite; all have met.
  void tellFirst(uint64_t number);

  CrewState &crew;
  const int rank;
  CrewState::Rank &self;
  Pulse *const pulse;
  Fabric &fabric;
  Request &request;
  const uint64_t done, lag; ///< steps of runs before; steps after which numbers are read
  uint64_t step, ended;     ///< the step at hand; the last one that was shown
  int64_t begin;            ///< when the time of the next one to be shown began
};

} // namespace xlc::runtime

#endif
