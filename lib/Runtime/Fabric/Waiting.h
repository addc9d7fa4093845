// How threads wait for a word to change: a short spin, then a futex. Where the ranks of a group wait for each other is a
// barrier of two such words.
//
// A pure spin costs milliseconds when two threads share a core; a pure futex costs microseconds always.
#ifndef XLC_LIB_RUNTIME_FABRIC_WAITING_H
#define XLC_LIB_RUNTIME_FABRIC_WAITING_H

#include "Failure.h"

#include <cstdint>

namespace xlc::runtime {

/// Who waits at a word: threads of this process, or also of others of this host, which map its memory.
enum class Reach { Process, Host };

/// Waits until `word` differs from `value`: `spins` looks, then sleeps of at most 50 ms, between which it throws
/// Stopped if the signal is up.
void waitWhile(const std::atomic<uint32_t> &word, uint32_t value, int spins, const StopSignal &stop,
               Reach reach = Reach::Process);

/// Wakes all sleepers on `word`.
void wakeAll(const std::atomic<uint32_t> &word, Reach reach = Reach::Process);

/// How often to look before sleeping when `threads` threads run on this machine.
int spinsFor(int threads);

/// For a thread that mostly waits, beside others that compute: asks the kernel to let it run for a tenth of a millisecond at a
/// time, so that it gets a core when it wakes from who would keep it for milliseconds, and to end its sleeps when they are
/// over. Linux 6.12 and later know such a wish of a thread without privileges (sched_setattr(2), `sched_runtime`); others
/// leave its turns as they are.
void wakePromptly();

/// The words of a barrier; all zero at first.
struct Barrier {
  alignas(64) std::atomic<uint32_t> arrived{0};
  alignas(64) std::atomic<uint32_t> generation{0};

  /// Counts one of `members`. The last one opens the barrier; for the others, returns true with the value that
  /// `generation` has until then.
  bool arrive(uint32_t members, Reach reach, uint32_t &closed);
};

} // namespace xlc::runtime

#endif
