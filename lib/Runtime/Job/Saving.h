// Checkpoints while a run goes on, as one process of the job takes part in them: when one is due, who writes what, and
// what follows where that fails. All ranks write at once; a checkpoint counts when rank 0 has written its manifest:
//
//     rank 0   makes the folder                                     all meet
//     ranks    each writes and syncs its files, on a thread         all agree at the end of a step that all have
//     rank 0   writes the manifest, removes what is out of date     all meet
//
// The thread reads what the rank holds, which only updates change: the first update of the next step waits for it
// (direct). Running averages change in forward, and are copied before. Where the thread reads a copy (copy), nothing
// waits for it but the next checkpoint; the last one of a run, and all where the plan says so (off), are waited for.
//
// A failure of any of them ends the attempt: what it has left is removed, one line says why, and training goes on.
// Where ranks hold different elements that should be the same (Checkpoint/Replicas.h), the run ends, and the checkpoint
// does not count.
#ifndef XLC_LIB_RUNTIME_JOB_SAVING_H
#define XLC_LIB_RUNTIME_JOB_SAVING_H

#include "Checkpoint/Writer.h"
#include "Resumption.h"
#include "Settings.h"
#include "World.h"

#include <deque>
#include <mutex>
#include <thread>

namespace xlc::runtime {

class Saving {
public:
  /// Where the run has a folder, and this process is that of rank 0 (`speaks`), makes and locks it. Throws Rejected.
  Saving(const World &world, const Options &options, const Settings &settings, bool speaks);
  ~Saving();

  bool isOn() const { return !dir.empty(); }
  /// Of rank 0, where ranks are on several hosts: leaves a number in the folder, which all find there if it is one for
  /// all. Throws Rejected.
  void markFolder() const;
  /// Then, of each process, when all have met. Throws Rejected where it is another.
  void checkFolder() const;
  /// Of every rank, before all meet after a step: asks for a checkpoint where one is due.
  void ask(int rank, uint64_t step, bool isFirstOfProcess);
  /// Then, when all have met: whether one is to be written. `isLast`: the run ends with this step.
  bool isDue(uint64_t step, bool isLast) const;

  /// What a manifest says that does not follow from the plan.
  struct State {
    RunProgress progress;
    uint64_t seed;
    std::optional<LossScaleState> lossScale; ///< none: there is none
    const SavedData *data;
    std::optional<EvaluationState> evaluation; ///< none: there was none
  };
  /// Of every rank: begins to write its part, on a thread; where `isLast`, returns when the checkpoint is durable, or
  /// could not be written.
  void write(int rank, const State &state, const InitialValues &values, RankMemory memory, Pulse *pulse, bool isLast);
  /// Of every rank, when all have met after a step: completes a checkpoint that all have written by now.
  void completeAfter(int rank, uint64_t step, Pulse *pulse);
  /// The same when the last step has ended, and waits for it.
  void complete(int rank, Pulse *pulse);
  /// Before what checkpoints have changes: waits for the thread that reads it.
  void await(int rank);
  /// How long rank 0 has waited for checkpoints since the last call, in nanoseconds.
  int64_t takeWaited() { return waited.exchange(0); }

  /// Whether the last attempt failed, or one that ends the run. Of the process of rank 0.
  bool hasFailed() const { return lastFailed || endsRun; }

private:
  /// A checkpoint on its way, as a rank sees it.
  struct Part {
    std::mutex mutex; ///< of the thread that waits for `thread`: several of a rank may
    std::thread thread;
    std::atomic<bool> isWritten = true;
    bool isOpen = false; ///< not complete; the same for all ranks
    State state;
    std::optional<std::string> shared; ///< digits of what replicas hold, where they were made beforehand
  };
  /// Adds what its scope takes to `waited`.
  class Waits;
  bool compares() const { return plan.checkpoints && plan.checkpoints->compare; }
  void attempt(uint64_t step, const std::function<void()> &work);
  void writePart(int rank, const InitialValues &values, const ReadState &read);
  void awaitThread(int rank);
  void completeOpen(int rank, Pulse *pulse);
  void publish(const State &state);
  [[noreturn]] void endOfDifferent(uint64_t step, const std::string &which);
  void removeOutdated(const State &state) const;

  const World &world;
  const Plan &plan;
  const Settings &settings;
  const std::string dir;
  int lock = -1;
  std::deque<Part> parts;     ///< by rank
  int64_t lastTime, lastLook; ///< when the last one was written, and when `checkpoint-now` was last looked for
  uint64_t seenSignals = 0;
  bool lastFailed = false, endsRun = false;
  std::atomic<int64_t> waited = 0; ///< ns, of rank 0
};

} // namespace xlc::runtime

#endif
