// Checkpoints during a run, from the view of one process of the job: when one is due, which part each rank writes, and
// the handling of failures. All ranks write at once; a checkpoint becomes valid when rank 0 has written its manifest:
//
//     rank 0   creates the folder                                   all meet
//     ranks    each writes and syncs its files, on a thread         all agree at the end of a step that all are done
//     rank 0   writes the manifest, removes outdated checkpoints    all meet
//
// The thread reads the memory of the rank, which only updates change: the first update of the next step waits until the
// thread has read it, and not for the disk (direct). Running averages change in forward, and are copied before. If the
// thread reads a copy (copy), only the next checkpoint waits for it. The run waits for its last checkpoint and, if the
// plan states so (off), for each one. A thread beside a step bypasses the page cache, because its copies would take the
// processors and the memory bandwidth of the step; as soon as an update waits, the thread uses the page cache.
//
// A failure of any rank ends the attempt: its files are removed, one line reports the reason, and training continues.
// If ranks differ in elements that should be equal (Checkpoint/Replicas.h), the run ends, and the checkpoint does not
// become valid.
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
  /// If the run has a folder and this process is that of rank 0 (`speaks`), creates and locks the folder. Throws
  /// Rejected.
  Saving(const World &world, const Options &options, const Settings &settings, bool speaks);
  ~Saving();

  bool isOn() const { return !dir.empty(); }
  /// Called by rank 0 if ranks are on several hosts: writes a number into the folder, by which all hosts check that
  /// they share it. Throws Rejected.
  void markFolder() const;
  /// Called afterwards by each process when all have met. Throws Rejected if the folder is a different one.
  void checkFolder() const;
  /// Called by every rank before all meet after a step: requests a checkpoint if one is due.
  void ask(int rank, uint64_t step, bool isFirstOfProcess);
  /// Called afterwards when all have met: whether a checkpoint must be written. `isLast`: the run ends with this step.
  bool isDue(uint64_t step, bool isLast) const;

  /// The entries of a manifest that do not follow from the plan.
  struct State {
    RunProgress progress;
    uint64_t seed;
    std::optional<LossScaleState> lossScale; ///< none: no loss scale
    const SavedData *data;
    std::optional<EvaluationState> evaluation; ///< none: no evaluation so far
  };
  /// Called by every rank: starts to write its part, on a thread. If `isLast`, returns when the checkpoint is durable
  /// or has failed.
  void write(int rank, const State &state, const InitialValues &values, RankMemory memory, Pulse *pulse, bool isLast);
  /// Called by every rank when all have met after a step: completes a checkpoint if all ranks have written their parts.
  void completeAfter(int rank, uint64_t step, Pulse *pulse);
  /// The same after the last step, and waits for the checkpoint.
  void complete(int rank, Pulse *pulse);
  /// Call before data of a checkpoint change: waits until the thread has read them.
  void await(int rank);
  /// The time for which rank 0 has waited for checkpoints since the last call, in nanoseconds.
  int64_t takeWaited() { return waited.exchange(0); }

  /// Whether the last attempt failed, or one that ends the run. Only in the process of rank 0.
  bool hasFailed() const { return lastFailed || endsRun; }

private:
  /// One rank's part of a checkpoint that is being written.
  struct Part {
    std::thread thread;
    WaitingStep step;
    std::atomic<bool> isRead = true;    ///< the thread does not read the rank's memory any more
    std::atomic<bool> isWritten = true; ///< the files are durable, or the attempt has failed
    bool isOpen = false;                ///< not yet complete; equal on all ranks
    State state;
    std::optional<std::string> shared; ///< digits of replicated elements, if they were computed in advance
  };
  /// Adds the duration of its scope to `waited`.
  class Waits;
  bool compares() const { return plan.checkpoints && plan.checkpoints->compare; }
  void attempt(uint64_t step, const std::function<void()> &work);
  void writePart(int rank, const InitialValues &values, const ReadState &read, const WaitingStep *step);
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
  int64_t lastTime, lastLook; ///< times of the last checkpoint, and of the last check for `checkpoint-now`
  uint64_t seenSignals = 0;
  bool lastFailed = false, endsRun = false;
  std::atomic<int64_t> waited = 0; ///< in ns, on rank 0
};

} // namespace xlc::runtime

#endif
