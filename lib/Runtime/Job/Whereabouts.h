// The positions of the ranks of a job: each rank updates a pulse as it progresses (Fabric/Pulse.h). A rank of another
// host sends its position to the watching processes.
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
  /// Reserves its part of the commons. `wire` leads to ranks on other hosts; null if there are none.
  Whereabouts(const Plan &plan, Commons &commons, const Wire *wire);

  Pulse *pulses() const { return &commons.at(pulsePlace); }
  /// The time of the last position from a process on another host, in nanoseconds; 0: never.
  std::atomic<int64_t> &lastHeard(int rank) const { return commons.at(heard, (uint64_t)rank); }

  /// Whether this process receives the positions of all ranks: rank 0 does, and the last rank, in case rank 0 hangs.
  bool areTold() const { return !wire || isWatcher(wire->rank()); }
  bool isWatcher(int rank) const { return rank == 0 || rank + 1 == (int)rankCount(plan); }

  /// Whether a process on another host has not sent a position for a while: it was suspended, or is unreachable.
  bool isSilent(int rank) const;
  /// Whether the value for which a rank waits has not arrived yet. For a rank of another host, its process has reported
  /// so.
  bool isWaiting(int rank, const Pulse &pulse) const;
  /// The last known position of a rank or one of its streams: "rank 1, step 3, action '...'".
  std::string describeRank(int rank) const { return describePulse(rank, pulses()[(uint64_t)rank * pulsesPerRank]); }
  std::string describePulse(int rank, const Pulse &pulse) const;

private:
  const Plan &plan;
  const Commons &commons;
  const Wire *const wire;
  const Piece<Pulse> pulsePlace;
  const Piece<std::atomic<int64_t>> heard; ///< only if there is a wire
};

} // namespace xlc::runtime

#endif
