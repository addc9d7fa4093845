// The ranks that this process runs as threads: all of a job's, or one. Its main thread starts them, watches them, and
// ends the process together with the job:
//
//   per rank: arena, initial values, RankSteps  all ranks meet after each step, and know then whether it was the last
//   on failure: the first message, exit 5 or 7  ranks that do not notice within a second are left behind
//   rank 0 saves, compares with the plan        the others wait for its exit code
#ifndef XLC_LIB_RUNTIME_JOB_CREW_H
#define XLC_LIB_RUNTIME_JOB_CREW_H

#include "CrewState.h"
#include "Watchdog.h"

#include <condition_variable>

namespace xlc::runtime {

class Crew : CrewState {
public:
  /// Reads the initial values of ranks. If `speaks`, opens the files that are written from the start on. `machine` is
  /// available when ranks run. Throws Rejected.
  Crew(const World &world, const Embedded &embedded, const Target &target, const std::unique_ptr<Machine> &machine,
       const Options &options, const Settings &settings, const std::atomic<int> &signal, bool speaks);
  ~Crew() { ranks.clear(); } // executors refer to the contexts

  /// Runs these ranks; other processes run the others. All processes of a job get the same exit code.
  Exit run(Share ranks, Company &others);

private:
  void runRank(int rank);
  /// Ends the job because of the exception that is being handled, on the thread that threw it.
  void fail(int rank);
  /// The same if there is memory for a message; otherwise throws std::bad_alloc.
  void tellWhy(int rank);
  /// Creates the rank's device and arena.
  void makeMemory(int rank);
  void makeExecutors(int rank);
  /// Fills the rank's states, with initial values or from the checkpoint on which all ranks agree.
  void fillStates(int rank, Pulse *pulse);
  void restore(int rank, Pulse *pulse);
  /// Called by the first rank of the process when all ranks agree where the run begins.
  void beginRun();
  JobContext makeContext(const DataSource &source);
  /// Called by a rank before it changes data of its checkpoint: waits for the thread that writes them.
  void awaitWriter(int rank, Pulse &pulse);
  bool capturesSteps() const;
  void startRanks();
  bool waitForRanks(Company &others);
  /// Called in a process without rank 0.
  Exit awaitEnd(Company &others);
  Exit finish(Company &others);

  JobContext context, evaluationContext; ///< for training steps, and for others: the latter read no rows ahead
  Watchdog watchdog;
  std::mutex mutex;
  std::condition_variable finished;
  size_t finishedRanks = 0;
};

} // namespace xlc::runtime

#endif
