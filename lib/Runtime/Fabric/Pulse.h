// What a rank shows of itself while it works: where it is, and whom it waits for. Who looks twice and sees nothing move
// knows that something hangs; where a rank waits for what has come already, it is that rank that does not go on.
#ifndef XLC_LIB_RUNTIME_FABRIC_PULSE_H
#define XLC_LIB_RUNTIME_FABRIC_PULSE_H

#include <atomic>
#include <cstdint>

namespace xlc::runtime {

/// Of what one thread of a rank runs. In memory that all ranks see; all zero: it has not begun.
struct alignas(64) Pulse {
  enum State : uint32_t { Idle, Works, WaitsWithin, WaitsForRanks, Speaks };

  /// `ofPurpose`: of the rank's program, as the plan numbers it.
  void beginAction(uint64_t ofStep, uint64_t index, uint32_t ofPurpose = 0) {
    step.store(ofStep, std::memory_order_relaxed), action.store(index, std::memory_order_relaxed);
    purpose.store(ofPurpose, std::memory_order_relaxed);
    call.store(-1, std::memory_order_relaxed);
    set(Works);
  }
  void beginCall(int64_t index) {
    call.store(index, std::memory_order_relaxed);
    beat();
  }
  void set(State to) {
    state.store(to, std::memory_order_relaxed);
    beat();
  }
  /// For a word, which has its place among what all see, to have another value.
  void waitFor(uint64_t place, uint32_t current) {
    word.store(place, std::memory_order_relaxed), value.store(current, std::memory_order_relaxed);
    set(WaitsForRanks);
  }
  /// Only its own thread writes.
  void beat() { beats.store(beats.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

  std::atomic<uint64_t> beats, step, action, word;
  std::atomic<int64_t> call;
  std::atomic<uint32_t> value, state, purpose;
};

} // namespace xlc::runtime

#endif
