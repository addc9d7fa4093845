// What all ranks of a job share, be they threads of one process or processes: the memory in which they meet, what each
// shows of itself while it works, and what it leaves behind.
#ifndef XLC_LIB_RUNTIME_JOB_WORLD_H
#define XLC_LIB_RUNTIME_JOB_WORLD_H

#include "Device/Executor.h"
#include "Device/Target.h"
#include "Fabric/Waiter.h"
#include "Progress.h"

namespace xlc::runtime {

/// How the job goes on. All zero at first.
struct Board {
  std::atomic<uint32_t> shown; ///< the step of `result`
  StepResult result;
  std::atomic<bool> isBindingSaid; ///< that ranks have fewer cores than threads
  std::atomic<uint32_t> exit;      ///< 1 + the exit code, once everything is written
};

/// What a rank has used, complete when all have met after the last step.
struct RankReport {
  uint64_t allocatedBytes; ///< counted where they were mapped
  uint64_t peakSlots, peakResidentBytes;
  MovedByAxis moved;
  std::atomic<uint32_t> hasEnded; ///< nobody needs its process any more
};

class World {
public:
  /// Reserves for traces of `traceSteps` steps. `wire` leads to ranks on other hosts, if there are any.
  World(const Plan &plan, const Target &target, uint64_t traceSteps, Wire *wire = nullptr);

  /// Memory of this process alone, in which ranks are threads.
  void provide() { commons.provide(); }
  /// A file of `sharedBytes()` bytes, mapped at `begin`: it holds the arenas of all ranks too.
  void provide(int sharedFile, char *begin) { file = sharedFile, commons.provide(begin); }
  uint64_t sharedBytes() const { return arenaOffsets.back(); }

  Fabric &ranksMeet() const { return *fabric; }
  StopSignal &stop() const { return commons.stop(); }
  Request &request() const { return commons.request(); }
  Board &board() const { return commons.at(boardPlace); }
  RankReport &reportOf(int rank) const { return commons.at(reports, rank); }
  Pulse *pulses() const { return &commons.at(pulsePlace); }
  bool isTraced() const { return eventsPerRank > 0; }
  RankTrace traceOf(int rank) const;

  /// Memory for the arena of a rank.
  DeviceMemory allocateArena(int rank, Device &device) const;
  /// Of any rank, where processes share them.
  char *arenaOf(int rank) const { return commons.addressOf(arenaOffsets[rank]); }
  bool isShared() const { return file >= 0; }

  /// Whether what a rank waits for has not come yet.
  bool isWaiting(const Pulse &pulse) const;
  /// Where a rank, or one of its streams, was seen last: "rank 1, step 3, action '...'".
  std::string describeRank(int rank) const { return describePulse(rank, pulses()[(uint64_t)rank * pulsesPerRank]); }
  std::string describePulse(int rank, const Pulse &pulse) const;

  const Plan &plan;
  const int spins;

private:
  Commons commons;

public:
  const Waiter waiter; ///< for words of the board

private:
  const std::unique_ptr<Fabric> fabric;
  const uint64_t eventsPerRank;
  const Piece<Board> boardPlace;
  const Piece<RankReport> reports;
  const Piece<Pulse> pulsePlace;
  const Piece<std::atomic<uint64_t>> eventCounts;
  const Piece<TraceEvent> events;
  std::vector<uint64_t> arenaOffsets; ///< by rank, in the file; and its end
  int file = -1;
};

} // namespace xlc::runtime

#endif
