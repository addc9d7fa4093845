// Where the ranks of a job are: each beats a pulse as it goes on (Fabric/Pulse.h), which a rank of another host tells
// the processes that watch.
#ifndef XLC_LIB_RUNTIME_JOB_WHEREABOUTS_H
#define XLC_LIB_RUNTIME_JOB_WHEREABOUTS_H

#include "Device/Executor.h"
#include "Fabric/Commons.h"
#include "Fabric/Pulse.h"
#include "Fabric/Wire.h"
#include "Plan/Ranks.h"

#include <atomic>
#include <string>

namespace xlc::runtime {

class Whereabouts {
public:
  /// Reserves its part of the commons. `wire` leads to ranks on other hosts; null: there are none.
  Whereabouts(const Plan &plan, Commons &commons, const Wire *wire);

  Pulse *pulses() const { return &commons.at(pulsePlace); }
  /// When another host's process has last told where its rank is, in nanoseconds; 0: never.
  std::atomic<int64_t> &lastHeard(int rank) const { return commons.at(heard, (uint64_t)rank); }

  /// Whether this process is told of all ranks where they are: rank 0 is, and the last one, if rank 0 hangs.
  bool areTold() const { return !wire || isWatcher(wire->rank()); }
  bool isWatcher(int rank) const { return rank == 0 || rank + 1 == (int)rankCount(plan); }

  /// Whether a process on another host has not told for a while where its rank is: it was stopped, or cannot be
  /// reached.
  bool isSilent(int rank) const;
  /// Whether what a rank waits for has not come yet. Of another host's, its process has told so.
  bool isWaiting(int rank, const Pulse &pulse) const;
  /// Where a rank, or one of its streams, was seen last: "rank 1, step 3, action '...'".
  std::string describeRank(int rank) const { return describePulse(rank, pulses()[(uint64_t)rank * pulsesPerRank]); }
  std::string describePulse(int rank, const Pulse &pulse) const;

private:
  const Plan &plan;
  const Commons &commons;
  const Wire *const wire;
  const Piece<Pulse> pulsePlace;
  const Piece<std::atomic<int64_t>> heard; ///< where there is a wire
};

} // namespace xlc::runtime

#endif
