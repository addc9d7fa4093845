// Waits of a rank for words in shared memory. During a wait, the pulse reports the word.
#ifndef XLC_LIB_RUNTIME_FABRIC_WAITER_H
#define XLC_LIB_RUNTIME_FABRIC_WAITER_H

#include "Commons.h"
#include "Pulse.h"

namespace xlc::runtime {

class Waiter {
public:
  /// `spins`: as for waitWhile.
  Waiter(const Commons &commons, int spins) : commons(commons), spins(spins) {}

  /// `pulse` may be null.
  void waitWhile(const std::atomic<uint32_t> &word, uint32_t value, Pulse *pulse) const {
    if (pulse)
      pulse->waitFor(commons.numberOf(&word), value);
    runtime::waitWhile(word, value, spins, commons.stop(), commons.reach());
    if (pulse)
      pulse->set(Pulse::Works);
  }
  void wake(const std::atomic<uint32_t> &word) const { wakeAll(word, commons.reach()); }

  /// Returns when all members have called it; throws Stopped when the job ends instead.
  void wait(Barrier &barrier, uint64_t members, Pulse *pulse) const {
    commons.stop().throwIfRaised();
    if (uint32_t closed; barrier.arrive((uint32_t)members, commons.reach(), closed))
      waitWhile(barrier.generation, closed, pulse);
  }

private:
  const Commons &commons;
  const int spins;
};

} // namespace xlc::runtime

#endif
