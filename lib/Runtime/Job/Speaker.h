// The tasks of rank 0 only: it shows each step, judges its numbers, and writes the files at the end. The numbers come
// from the first rank that computes them, which is another one if there are pipeline stages.
#ifndef XLC_LIB_RUNTIME_JOB_SPEAKER_H
#define XLC_LIB_RUNTIME_JOB_SPEAKER_H

#include "Data/Data.h"
#include "Evaluation.h"
#include "Files/Parameters.h"
#include "Options.h"
#include "World.h"

namespace xlc::runtime {

class Speaker {
public:
  /// Throws Rejected if the log cannot be written.
  Speaker(const World &world, const Options &options, const Data &data)
      : world(world), plan(world.plan), options(options), data(data), progress(world.plan, options) {}

  /// Call before the first step, after `done` of `count` steps in earlier runs. `note`: the checkpoint from which the
  /// run is resumed, if any.
  void begin(uint64_t done, uint64_t count, const std::string &note);

  /// Called after a step that started at `begin`, in which rank 0 waited `waited` ns for checkpoints: waits for its
  /// numbers, shows them, and ends the job if they are unusable.
  void endStep(uint64_t step, int64_t begin, int64_t waited);

  /// Shows an evaluation, which `judge` has judged.
  void showEvaluation(const EvaluationResult &result, const Judge &judge);
  /// Reports that a signal has stopped the evaluation after a step.
  void tellStopped(uint64_t step);

  /// Called for a step with a value that is not finite, whatever its loss is: the job ends after it.
  void spoil(uint64_t step);
  /// Writes a line of the log that is not a record of a step.
  void log(const std::string &line) { progress.log(line); }
  /// Prints text unchanged to stdout.
  void print(const std::string &text) { progress.print(text); }

  /// Call when all ranks have ended: saves, writes reports, and compares with the plan. Throws Rejected if a file could
  /// not be written. `values`: the initial values of parameters. `outside`: those of rank 0's device.
  Exit finish(const InitialValues &values, const ReadArena &read, std::vector<OutsideBytes> outside);

private:
  /// The path to which a file of parameters is written: a failed run does not replace an existing file.
  std::string placeOf(const std::string &path) const;
  /// Ends the job after this step if its numbers are unusable.
  void judge(const StepResult &result);
  /// Ends the job after a step, without a checkpoint of it.
  void endBehind(uint64_t step);

  const World &world;
  const Plan &plan;
  const Options &options;
  const Data &data;
  Progress progress;
  uint64_t steps = 0, before = 0; ///< of the run; of earlier runs
  uint64_t shown = 0, ran = 0;    ///< numbers of steps
  std::string failure;            ///< the reason why the job ends with exit 7, or empty
  bool isSkipped = false;         ///< the failed step was not applied
};

/// Called on the rank that computes loss and norm, at the end of this step or the next: the results that rank 0 shows.
StepResult resultOf(uint64_t step, const Executor &executor);

/// The first rank that computes loss and norm.
int findPublisher(const Plan &plan);

} // namespace xlc::runtime

#endif
