// Checkpoints while a run goes on, as one process of the job takes part in them: when one is due, who writes what, and
// what follows where that fails. All ranks write at once; a checkpoint counts when rank 0 has written its manifest:
//
//     rank 0   makes the folder                                     all meet
//     ranks    each writes and syncs its files                      all meet
//     rank 0   writes the manifest, removes what is out of date     all meet
//
// A failure of any of them ends the attempt: what it has left is removed, one line says why, and training goes on.
#ifndef XLC_LIB_RUNTIME_JOB_SAVING_H
#define XLC_LIB_RUNTIME_JOB_SAVING_H

#include "Checkpoint/Writer.h"
#include "Resumption.h"
#include "Settings.h"
#include "World.h"

namespace xlc::runtime {

class Saving {
public:
  /// Where the run has a folder, and this process is that of rank 0 (`speaks`), makes and locks it. Throws Rejected.
  Saving(const World &world, const Options &options, const Settings &settings, bool speaks);
  ~Saving();

  bool isOn() const { return !dir.empty(); }
  /// Of every rank, before all meet after a step: asks for a checkpoint where one is due.
  void ask(int rank, uint64_t step, bool isFirstOfProcess);
  /// Then, when all have met: whether one is to be written. `isLast`: the run ends with this step.
  bool isDue(uint64_t step, bool isLast) const;

  /// What a manifest says that does not follow from the plan.
  struct State {
    RunProgress progress;
    uint64_t seed;
    const LossScale *lossScale; ///< null: there is none
    const SavedData &data;
  };
  /// Of every rank: writes its part. Returns when the checkpoint is durable, or could not be written.
  void write(int rank, const State &state, const InitialValues &values, RankMemory memory, Pulse *pulse);

  /// Why the last attempt failed; empty where it did not. Of the process of rank 0.
  bool hasFailed() const { return lastFailed; }

private:
  void attempt(uint64_t step, const std::function<void()> &work);
  void publish(const State &state);
  void removeOutdated() const;

  const World &world;
  const Plan &plan;
  const Settings &settings;
  const std::string dir;
  const bool hasAskedAtStart;
  int lock = -1;
  int64_t lastTime, lastLook; ///< when the last one was written, and when `checkpoint-now` was last looked for
  uint64_t seenSignals = 0;
  bool lastFailed = false;
};

} // namespace xlc::runtime

#endif
