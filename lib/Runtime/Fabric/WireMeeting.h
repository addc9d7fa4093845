// The meeting of ranks without shared memory.
#ifndef XLC_LIB_RUNTIME_FABRIC_WIREMEETING_H
#define XLC_LIB_RUNTIME_FABRIC_WIREMEETING_H

#include "Waiter.h"
#include "Wire.h"

#include <vector>

namespace xlc::runtime {

/// The meeting of the rank at this end of a wire, on one thread.
class WireMeeting {
public:
  /// `spins`: as for waitWhile.
  WireMeeting(Wire &wire, Commons &commons, int spins) : wire(wire), commons(commons), waiter(commons, spins) {}

  /// See Fabric::meet.
  void meet(Pulse *pulse);
  /// Meets all ranks: returns for each word the maximum over the ranks. The result is valid until the next meeting.
  /// `pulse` may be null.
  std::span<const uint64_t> share(std::span<const uint64_t> own, Pulse *pulse);

private:
  Wire &wire;
  Commons &commons;
  const Waiter waiter;
  std::atomic<uint32_t> meetings{0};
  std::vector<uint64_t> words; ///< the wire writes them, even if this rank has stopped waiting
};

} // namespace xlc::runtime

#endif
