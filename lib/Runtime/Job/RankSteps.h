// Runs one rank of a crew from its first step to its last: training steps, and after them any due norms of parameters,
// evaluations and checkpoints. Or, instead, an evaluation, predictions, or generated tokens. All ranks of a job make
// the same choices, from data that all can read after they have met.
#ifndef XLC_LIB_RUNTIME_JOB_RANKSTEPS_H
#define XLC_LIB_RUNTIME_JOB_RANKSTEPS_H

#include "CrewState.h"

namespace xlc::runtime {

class RankSteps {
public:
  /// The rank must have its memory, states and executors.
  RankSteps(CrewState &crew, int rank);
  void run();

private:
  bool isLast() const;
  bool isTraining() const { return !crew.options.evaluates && !crew.generation; }
  void replaceTraining();
  void train();
  /// Work that is due after the step; all ranks have met.
  void logNorms();
  void evaluateIfDue();
  /// Repeats the evaluation after the last step of the previous run, if it was stopped before its end.
  void evaluateAnew();
  void evaluate();
  /// Whether a signal ends the current work; all ranks meet and get the same answer.
  bool isStopped();
  void writeCheckpointIfDue();
  void writeCheckpoint(bool isLast);
  /// Shows steps up to this one. On a device that runs ahead, their numbers are read late.
  void endUntil(uint64_t last);
  void endStep(uint64_t number);
  void reportEnd();
  void examineFailedStep();
  /// Reports the first value of a step that is not finite; all ranks have met.
  void tellFirst(uint64_t number);

  CrewState &crew;
  const int rank;
  CrewState::Rank &self;
  Pulse *const pulse;
  Fabric &fabric;
  Request &request;
  const uint64_t done, lag; ///< steps of earlier runs; delay in steps after which numbers are read
  uint64_t step, ended;     ///< the current step; the last one that was shown
  int64_t begin;            ///< start of the time of the next shown step
};

} // namespace xlc::runtime

#endif
