// The published state of a working rank: its position, and the rank for which it waits. A watchdog that reads it twice
// without a change detects a hang. If a rank waits for a value that is already there, this rank itself is stuck.
#ifndef XLC_LIB_RUNTIME_FABRIC_PULSE_H
#define XLC_LIB_RUNTIME_FABRIC_PULSE_H

#include <atomic>
#include <cstdint>

namespace xlc::runtime {

/// The pulse of one thread of a rank, in memory shared by all ranks. All zero: it has not begun.
struct alignas(64) Pulse {
  enum State : uint32_t { Idle, Works, WaitsWithin, WaitsForRanks, Speaks };

  /// `ofPurpose`: the purpose of the rank's program, in the numbering of the plan.
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
  /// Begins a wait for a change of a word, which is given by its place in the shared memory.
  void waitFor(uint64_t place, uint32_t current) {
    word.store(place, std::memory_order_relaxed), value.store(current, std::memory_order_relaxed);
    set(WaitsForRanks);
  }
  /// Only called by its own thread.
  void beat() { beats.store(beats.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

  std::atomic<uint64_t> beats, step, action, word;
  std::atomic<int64_t> call;
  std::atomic<uint32_t> value, state, purpose;
};

} // namespace xlc::runtime

#endif
