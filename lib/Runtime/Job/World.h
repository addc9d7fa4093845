// What all ranks of a job share, be they threads of one process or processes: the memory in which they meet, what each
// shows of itself while it works, and what it leaves behind.
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

/// How the job goes on. All zero at first.
struct Board {
  std::atomic<uint32_t> shown; ///< the step of `result`
  StepResult result;
  std::atomic<bool> isBindingSaid;            ///< that ranks have fewer cores than threads
  std::atomic<bool> isLateNoted;              ///< that some wait long for others before the first step
  std::atomic<uint64_t> failedCheckpointSaid; ///< 1 + the step of the last of which that was said
  std::atomic<uint32_t> exit;                 ///< 1 + the exit code, once everything is written
};

/// What a rank has used, complete when all have met after the last step.
struct RankReport {
  uint64_t allocatedBytes; ///< counted where they were mapped
  uint64_t peakSlots, peakResidentBytes;
  uint64_t bytesAhead, rowSum; ///< of rows: Data/Prefetch.h and, with --stats, Data/RowSum.h
  Restored restored;           ///< from the checkpoint that the run goes on from
  MovedByAxis moved;
  std::atomic<uint32_t> hasEnded; ///< nobody needs its process any more
};

/// What rank 0 asks of a rank whose device only its own process reaches. All zero at first.
struct Inquiry {
  static constexpr uint64_t most = 16 << 20; ///< bytes of an answer

  std::atomic<uint32_t> asked, answered; ///< counts
  int rank;
  uint64_t offset, bytes; ///< of its arena
  char answer[most];
};

class World {
public:
  /// What ranks leave in the commons beside their reports.
  struct Reserved {
    uint64_t traceSteps = 0; ///< steps of which there are traces
    bool norms = false;      ///< of parameters
  };
  /// `wire` leads to ranks on other hosts, if there are any.
  World(const Plan &plan, const Target &target, Reserved reserved, Wire *wire = nullptr);

  /// Memory of this process alone, in which ranks are threads.
  void provide() { commons.provide(); }
  /// A file of `sharedBytes()` bytes, mapped at `begin`: it holds the arenas of all ranks too.
  void provide(int sharedFile, char *begin) { arenas.share(sharedFile), commons.provide(begin); }
  uint64_t sharedBytes() const { return arenas.end(); }

  Fabric &ranksMeet() const { return *fabric; }
  StopSignal &stop() const { return commons.stop(); }
  Request &request() const { return commons.request(); }
  /// Where rank 0 reads what other processes have on devices of their own.
  Inquiry &inquiry() const { return commons.at(inquiryPlace); }
  Board &board() const { return commons.at(boardPlace); }
  RankReport &reportOf(int rank) const { return commons.at(reports, rank); }
  Pulse *pulses() const { return whereabouts.pulses(); }
  /// The first of a rank's norms, as the plan's parameters.
  ParameterNorm *normsOf(int rank) const { return &commons.at(norms, (uint64_t)rank * plan.parameters.size()); }
  bool isTraced() const { return eventsPerRank > 0; }
  RankTrace traceOf(int rank) const;

  /// Puts the numbers of a step where rank 0 waits for them.
  void publish(const StepResult &result) const;
  /// Of what a rank of another host has left in its commons: calls read(place, bytes) for all that rank 0 needs, which
  /// puts it here.
  void collect(int rank, const std::function<void(void *place, uint64_t bytes)> &read) const;
  /// Places in the commons, which are alike in all processes.
  uint64_t numberOf(const void *place) const { return commons.numberOf(place); }
  const char *addressOf(uint64_t number) const { return commons.addressOf(number); }
  /// How many of these places there are.
  uint64_t commonsBytes() const { return commons.size(); }
  /// The wire to ranks on other hosts, which have commons of their own; null: there are none.
  bool isWired() const { return wire != nullptr; }
  /// Whether it falls to the caller, which watches, to say what all watchers see: to the first who asks, of several
  /// hosts to rank 0's as long as it is there.
  bool claimNote() const {
    return (!wire || wire->rank() == 0 || whereabouts.isSilent(0)) && !board().isLateNoted.exchange(true);
  }

  /// A signal that another process of the job got first is this one's too.
  void adoptSignal(std::atomic<int> &signal) const;

  const Plan &plan;
  const int spins;

private:
  Commons commons;

public:
  const Waiter waiter; ///< for words of the board

private:
  const Wire *const wire;
  const std::unique_ptr<Fabric> fabric;
  const uint64_t eventsPerRank;
  const Piece<Board> boardPlace;
  const Piece<Inquiry> inquiryPlace; ///< where devices are not this host's processors
  const Piece<RankReport> reports;
  const Piece<ParameterNorm> norms;
  const Piece<std::atomic<uint64_t>> eventCounts;
  const Piece<TraceEvent> events;

public:
  const Whereabouts whereabouts;
  Arenas arenas; ///< behind all else of the commons
};

} // namespace xlc::runtime

#endif
