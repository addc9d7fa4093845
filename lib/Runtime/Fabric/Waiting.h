// Waits for a word to change: a short spin, then a futex. A barrier, at which the ranks of a group wait for each other,
// consists of two such words.
//
// A pure spin costs milliseconds when two threads share a core; a pure futex costs microseconds always.
#ifndef XLC_LIB_RUNTIME_FABRIC_WAITING_H
#define XLC_LIB_RUNTIME_FABRIC_WAITING_H

#include "Failure.h"

#include <cstdint>

namespace xlc::runtime {

/// The threads that wait for a word: those of this process, or also those of other processes of this host, which map
/// its memory.
enum class Reach { Process, Host };

/// Waits until `word` differs from `value`: polls `spins` times, then sleeps for at most 50 ms at a time. Between
/// sleeps it throws Stopped if the signal is raised.
void waitWhile(const std::atomic<uint32_t> &word, uint32_t value, int spins, const StopSignal &stop,
               Reach reach = Reach::Process);

/// Wakes all threads that sleep on `word`.
void wakeAll(const std::atomic<uint32_t> &word, Reach reach = Reach::Process);

/// The number of polls before a sleep when `threads` threads run on this machine.
int spinsFor(int threads);

/// For a thread that mostly waits next to others that compute. It requests slices of a tenth of a millisecond from the
/// kernel, so that after a wake-up the thread gets a core from a thread that would otherwise keep it for milliseconds.
/// It also requests that sleeps end on time. Linux 6.12 and later allow this without privileges (sched_setattr(2),
/// `sched_runtime`); older versions keep the default slices.
void wakePromptly();

/// The words of a barrier; initially all zero.
struct Barrier {
  alignas(64) std::atomic<uint32_t> arrived{0};
  alignas(64) std::atomic<uint32_t> generation{0};

  /// Counts one of `members`. The last one opens the barrier. For the others, returns true with the value that
  /// `generation` has until the barrier opens.
  bool arrive(uint32_t members, Reach reach, uint32_t &closed);
};

} // namespace xlc::runtime

#endif
