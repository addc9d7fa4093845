// Where the ranks of a group, or the threads of a rank, wait for each other: a short spin, then a futex.
//
// A pure spin costs milliseconds when two threads share a core; a pure futex costs microseconds always.
#ifndef XLC_LIB_RUNTIME_FABRIC_BARRIER_H
#define XLC_LIB_RUNTIME_FABRIC_BARRIER_H

#include "Failure.h"

#include <cstdint>

namespace xlc::runtime {

/// Waits until `word` differs from `value`: `spins` looks, then sleeps of at most 50 ms, between which it throws
/// Stopped if the signal is up.
void waitWhile(const std::atomic<uint32_t> &word, uint32_t value, int spins, const StopSignal &stop);

/// Wakes all sleepers on `word`.
void wakeAll(const std::atomic<uint32_t> &word);

/// How often to look before sleeping when `threads` threads run on this machine.
int spinsFor(int threads);

class Barrier {
public:
  Barrier(int members, int spins) : members(members), spins(spins) {}

  /// Returns when all members have called it; throws Stopped when the job ends instead.
  void wait(const StopSignal &stop);

private:
  const uint32_t members;
  const int spins;
  alignas(64) std::atomic<uint32_t> arrived{0};
  alignas(64) std::atomic<uint32_t> generation{0};
};

} // namespace xlc::runtime

#endif
