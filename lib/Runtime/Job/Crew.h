// The ranks that this process runs, as threads: all of a job's, or one. Its main thread starts them, watches, and ends
// the process with the job:
//
//   per rank: arena, initial values, steps      all ranks meet after each step, and know then whether it was the last
//   on failure: the first message, exit 5 or 7  ranks that do not notice within a second are left behind
//   rank 0 saves, compares with the plan        the others wait for its exit code
#ifndef XLC_LIB_RUNTIME_JOB_CREW_H
#define XLC_LIB_RUNTIME_JOB_CREW_H

#include "Company.h"
#include "Data/Prefetch.h"
#include "Data/RowSum.h"
#include "Embedded.h"
#include "Evaluation.h"
#include "Examination.h"
#include "Fabric/SlowFabric.h"
#include "Files/Parameters.h"
#include "Generation.h"
#include "Predictions.h"
#include "RunChoices.h"
#include "Saving.h"
#include "Watchdog.h"

#include <condition_variable>
#include <deque>
#include <thread>

namespace xlc::runtime {

class Speaker;

class Crew {
public:
  /// Reads what ranks begin from; where `speaks`, opens what is written from the start on. `machine` is there when
  /// ranks run. Throws Rejected.
  Crew(const World &world, const Embedded &embedded, const Target &target, const std::unique_ptr<Machine> &machine,
       const Options &options, const Settings &settings, const std::atomic<int> &signal, bool speaks);
  ~Crew();

  /// Runs these ranks, beside those of the other processes; all of a job get the same exit code.
  Exit run(Share ranks, Company &others);

private:
  struct Rank {
    std::unique_ptr<Device> device;
    DeviceMemory arena;
    std::optional<RankTrace> trace;
    std::unique_ptr<Executor> executor;
    std::unique_ptr<Evaluation> evaluation;          ///< null: this run does not evaluate
    std::unique_ptr<Executor> generator;             ///< null: it generates nothing
    std::atomic<const Executor *> running = nullptr; ///< of these; null: none has run yet
    std::thread thread;
  };
  Rank &own(int rank) { return ranks[rank - share.first]; }
  RankMemory memoryOf(int rank) { return {own(rank).device.get(), own(rank).arena.begin, target.isHost}; }
  void runRank(int rank);
  /// Ends the job for the exception that is being handled, on the thread that threw it.
  void fail(int rank);
  /// The same where there is memory for a message; else throws std::bad_alloc.
  void tellWhy(int rank);
  void runSteps(int rank);
  /// The rank's device, and its arena.
  void makeMemory(int rank);
  void makeExecutors(int rank);
  /// Behind a step, when all have met: on the validation data. All know then whether it was the last.
  void evaluate(int rank, uint64_t step, Pulse *pulse);
  int64_t endStep(int rank, uint64_t step, int64_t begin);
  /// Fills the rank's states, with what parameters begin with or from the checkpoint on which all ranks agree.
  void fillStates(int rank, Pulse *pulse);
  void restore(int rank, Pulse *pulse);
  /// Of the first rank of the process, when all have agreed where the run begins.
  void beginRun();
  /// After a step, when all ranks have met: begins to write a checkpoint, or writes it.
  void writeCheckpoint(int rank, uint64_t step, Pulse *pulse, bool isLast);
  void reportEnd(int rank);
  JobContext makeContext(const DataSource &source);
  /// Of a rank, before it changes what its checkpoint has: waits for the thread that writes that.
  void awaitWriter(int rank, Pulse &pulse);
  bool capturesSteps() const;
  void startRanks();
  bool waitForRanks(Company &others);
  /// Of a process without rank 0.
  Exit awaitEnd(Company &others);
  Exit finish(Company &others);

  const World &world;
  const Plan &plan;
  const Target &target;
  const std::unique_ptr<Machine> &machine;
  const DeviceSetup setup; ///< but for the machine
  const Options &options;
  const std::atomic<int> &signal;
  Resumption resumption;
  Data data;
  const std::unique_ptr<const Data> validation;   ///< null: this run does not evaluate
  const std::unique_ptr<Predictions> predictions; ///< null: it writes none
  const std::unique_ptr<Generation> generation;   ///< null: it generates nothing
  Examination examination;
  ParameterNorms norms;
  const SavedData described; ///< of the data, for checkpoints; empty where none is written or read
  InitialValues values;
  uint64_t steps;        ///< of the run, from its beginning
  RateSchedule schedule; ///< over these
  Prefetch prefetch;
  RowSum rows;
  const std::unique_ptr<SlowFabric> slowLink; ///< none without --link-rate
  Saving saving;
  const std::unique_ptr<Speaker> speaker;
  JobContext context, evaluationContext; ///< of steps that train, and of others: these read no rows ahead
  Watchdog watchdog;
  Share share{};
  Company *company = nullptr; ///< while it runs
  std::deque<Rank> ranks;

  std::mutex mutex;
  std::condition_variable finished;
  size_t finishedRanks = 0;
};

} // namespace xlc::runtime

#endif
