// The state shared by all ranks of a job, whether they are threads of one process or processes: the memory in which
// they meet, the published state of each working rank, and its results.
#ifndef XLC_LIB_RUNTIME_JOB_WORLD_H
#define XLC_LIB_RUNTIME_JOB_WORLD_H

#include "Arenas.h"
#include "Checkpoint/Restore.h"
#include "Device/Executor.h"
#include "Device/Target.h"
#include "Fabric/Waiter.h"
#include "ParameterNorms.h"
#include "Progress.h"
#include "Whereabouts.h"

#include <functional>

namespace xlc::runtime {

/// The shared progress of the job. Initially all zero.
struct Board {
  std::atomic<uint32_t> shown; ///< the step to which `result` belongs
  StepResult result;
  std::atomic<bool> isBindingSaid;            ///< the warning about fewer cores than threads was printed
  std::atomic<bool> isLateNoted;              ///< the note about a long wait before the first step was printed
  std::atomic<uint64_t> failedCheckpointSaid; ///< 1 + the step of the last reported failure
  std::atomic<uint32_t> exit;                 ///< 1 + the exit code, once everything is written
};

/// The resources that a rank has used, complete when all have met after the last step.
struct RankReport {
  uint64_t allocatedBytes; ///< counted when they were mapped
  uint64_t peakSlots, peakResidentBytes;
  uint64_t bytesAhead, rowSum; ///< of rows: Data/Prefetch.h and, with --stats, Data/RowSum.h
  Restored restored;           ///< from the checkpoint from which the run is resumed
  MovedByAxis moved;
  std::atomic<uint32_t> hasEnded; ///< its process is no longer needed
};

/// A request of rank 0 to a rank whose device only its own process can access. Initially all zero.
struct Inquiry {
  static constexpr uint64_t most = 16 << 20; ///< the largest number of bytes of an answer

  std::atomic<uint32_t> asked, answered; ///< counts
  int rank;
  uint64_t offset, bytes; ///< a range of its arena
  char answer[most];
};

class World {
public:
  /// Optional results of ranks in the commons, in addition to their reports.
  struct Reserved {
    uint64_t traceSteps = 0; ///< number of traced steps
    bool norms = false;      ///< whether there are norms of parameters
  };
  /// `wire` leads to ranks on other hosts, if there are any.
  World(const Plan &plan, const Target &target, Reserved reserved, Wire *wire = nullptr);

  /// Provides memory of this process only, in which ranks are threads.
  void provide() { commons.provide(); }
  /// Provides a file of `sharedBytes()` bytes, mapped at `begin`, which also holds the arenas of all ranks.
  void provide(int sharedFile, char *begin) { arenas.share(sharedFile), commons.provide(begin); }
  uint64_t sharedBytes() const { return arenas.end(); }

  Fabric &ranksMeet() const { return *fabric; }
  StopSignal &stop() const { return commons.stop(); }
  Request &request() const { return commons.request(); }
  /// The request by which rank 0 reads memory on devices of other processes.
  Inquiry &inquiry() const { return commons.at(inquiryPlace); }
  Board &board() const { return commons.at(boardPlace); }
  RankReport &reportOf(int rank) const { return commons.at(reports, rank); }
  Pulse *pulses() const { return whereabouts.pulses(); }
  /// The first of a rank's norms, which are indexed as the plan's parameters.
  ParameterNorm *normsOf(int rank) const { return &commons.at(norms, (uint64_t)rank * plan.parameters.size()); }
  bool isTraced() const { return eventsPerRank > 0; }
  RankTrace traceOf(int rank) const;

  /// Stores the numbers of a step where rank 0 waits for them.
  void publish(const StepResult &result) const;
  /// Collects the results of a rank of another host: calls read(place, bytes) for all results in its commons that rank
  /// 0 requires, which stores them here.
  void collect(int rank, const std::function<void(void *place, uint64_t bytes)> &read) const;
  /// The number of a place in the commons, equal in all processes.
  uint64_t numberOf(const void *place) const { return commons.numberOf(place); }
  const char *addressOf(uint64_t number) const { return commons.addressOf(number); }
  /// The size of the commons.
  uint64_t commonsBytes() const { return commons.size(); }
  /// Whether there is a wire to ranks on other hosts, which have commons of their own.
  bool isWired() const { return wire != nullptr; }
  /// Whether the calling watcher must print a note that all watchers detect: true for the first caller; with several
  /// hosts, for rank 0 as long as it is reachable.
  bool claimNote() const {
    return (!wire || wire->rank() == 0 || whereabouts.isSilent(0)) && !board().isLateNoted.exchange(true);
  }

  /// Adopts a signal that another process of the job received first.
  void adoptSignal(std::atomic<int> &signal) const;

  const Plan &plan;
  const int spins;

private:
  Commons commons;

public:
  const Waiter waiter; ///< waits for words of the board

private:
  const Wire *const wire;
  const std::unique_ptr<Fabric> fabric;
  const uint64_t eventsPerRank;
  const Piece<Board> boardPlace;
  const Piece<Inquiry> inquiryPlace; ///< only if devices are not this host's processors
  const Piece<RankReport> reports;
  const Piece<ParameterNorm> norms;
  const Piece<std::atomic<uint64_t>> eventCounts;
  const Piece<TraceEvent> events;

public:
  const Whereabouts whereabouts;
  Arenas arenas; ///< after all other parts of the commons
};

} // namespace xlc::runtime

#endif
