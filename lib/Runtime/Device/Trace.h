// A record of the actions of a run and their times, in indices of the plan: stored while ranks run, written with names
// by Job/TraceFile.h.
#ifndef XLC_LIB_RUNTIME_DEVICE_TRACE_H
#define XLC_LIB_RUNTIME_DEVICE_TRACE_H

#include "Plan_generated.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>

namespace xlc::runtime {

/// The time in nanoseconds on a monotonic clock.
inline int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// One event of a rank: an action of its program for this purpose, or a call of the function that the action runs.
struct TraceEvent {
  plan::Purpose purpose;
  uint32_t action;
  int32_t call; ///< -1: no call
  plan::Stream stream;
  int64_t begin, end;
};

/// The events of one rank on all its streams, in memory shared by all ranks. When the memory is full, further events
/// are dropped and counted.
class RankTrace {
public:
  RankTrace(TraceEvent *room, uint64_t capacity, std::atomic<uint64_t> &added)
      : room(room), capacity(capacity), added(added) {}

  void add(const TraceEvent &event) {
    if (uint64_t index = added.fetch_add(1, std::memory_order_relaxed); index < capacity)
      room[index] = event;
  }
  std::span<const TraceEvent> events() const { return {room, std::min(added.load(), capacity)}; }
  uint64_t dropped() const { return added - events().size(); }

private:
  TraceEvent *const room;
  const uint64_t capacity;
  std::atomic<uint64_t> &added;
};

} // namespace xlc::runtime

#endif
