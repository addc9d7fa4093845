// The ranks that this process runs, as threads: all of a job's, or one. Its main thread starts them, watches, and ends
// the process with the job:
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
  /// Reads what ranks begin from; where `speaks`, opens what is written from the start on. `machine` is there when
  /// ranks run. Throws Rejected.
  Crew(const World &world, const Embedded &embedded, const Target &target, const std::unique_ptr<Machine> &machine,
       const Options &options, const Settings &settings, const std::atomic<int> &signal, bool speaks);
  ~Crew() { ranks.clear(); } // executors refer to the contexts

  /// Runs these ranks, beside those of the other processes; all of a job get the same exit code.
  Exit run(Share ranks, Company &others);

private:
  void runRank(int rank);
  /// Ends the job for the exception that is being handled, on the thread that threw it.
  void fail(int rank);
  /// The same where there is memory for a message; else throws std::bad_alloc.
  void tellWhy(int rank);
  /// The rank's device, and its arena.
  void makeMemory(int rank);
  void makeExecutors(int rank);
  /// Fills the rank's states, with what parameters begin with or from the checkpoint on which all ranks agree.
  void fillStates(int rank, Pulse *pulse);
  void restore(int rank, Pulse *pulse);
  /// Of the first rank of the process, when all have agreed where the run begins.
  void beginRun();
  JobContext makeContext(const DataSource &source);
  /// Of a rank, before it changes what its checkpoint has: waits for the thread that writes that.
  void awaitWriter(int rank, Pulse &pulse);
  bool capturesSteps() const;
  void startRanks();
  bool waitForRanks(Company &others);
  /// Of a process without rank 0.
  Exit awaitEnd(Company &others);
  Exit finish(Company &others);

  JobContext context, evaluationContext; ///< of steps that train, and of others: these read no rows ahead
  Watchdog watchdog;
  std::mutex mutex;
  std::condition_variable finished;
  size_t finishedRanks = 0;
};

} // namespace xlc::runtime

#endif
