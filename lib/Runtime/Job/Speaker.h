// What falls to rank 0 alone: it shows each step, judges its numbers, and writes the files at the end. The
// numbers come from the first rank that has them, which with pipeline stages is another.
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
  /// Throws Rejected where the log cannot be written.
  Speaker(const World &world, const Options &options, const Data &data)
      : world(world), plan(world.plan), options(options), data(data), progress(world.plan, options) {}

  /// Before the first step: `done` steps of `count` have been done by runs before. `note`: from which checkpoint, if
  /// so.
  void begin(uint64_t done, uint64_t count, const std::string &note);

  /// Of a step that took from `begin` on, of which rank 0 waited so many ns for checkpoints: waits for its numbers,
  /// shows them, ends the job where they are of no use.
  void endStep(uint64_t step, int64_t begin, int64_t waited);

  /// Of an evaluation, which `judge` has judged.
  void showEvaluation(const EvaluationResult &result, const Judge &judge);
  /// Of one behind a step that a signal has stopped.
  void tellStopped(uint64_t step);

  /// Of a step in which a value is not finite, whatever its loss is: the job ends after it.
  void spoil(uint64_t step);
  /// A line of the log that is no record of a step.
  void log(const std::string &line) { progress.log(line); }
  /// Text as it is, on the standard output.
  void print(const std::string &text) { progress.print(text); }

  /// When all ranks have ended: saves, writes reports, compares with the plan. Throws Rejected where something could
  /// not be written. `values`: what parameters began with. `outside`: of rank 0's device.
  Exit finish(const InitialValues &values, const ReadArena &read, std::vector<OutsideBytes> outside);

private:
  /// Where a file of parameters is written: a run that has failed leaves one that is there as it is.
  std::string placeOf(const std::string &path) const;
  /// Lets the job end after this step where its numbers are of no use.
  void judge(const StepResult &result);
  /// Ends the job after a step, of which no checkpoint is written.
  void endBehind(uint64_t step);

  const World &world;
  const Plan &plan;
  const Options &options;
  const Data &data;
  Progress progress;
  uint64_t steps = 0, before = 0; ///< of the run; of runs before this
  uint64_t shown = 0, ran = 0;    ///< steps
  std::string failure;            ///< why the job ends with exit 7; empty where it does not
  bool isSkipped = false;         ///< the step of the failure was not applied
};

/// Of the rank that has loss and norm, at the end of this step or the next: what rank 0 is to show.
StepResult resultOf(uint64_t step, const Executor &executor);

/// The first rank that has loss and norm.
int findPublisher(const Plan &plan);

} // namespace xlc::runtime

#endif
