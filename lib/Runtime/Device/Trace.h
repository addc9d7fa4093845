// What ran when, in the plan's numbers: kept while ranks run, written with its names by Job/TraceFile.h.
#ifndef XLC_LIB_RUNTIME_DEVICE_TRACE_H
#define XLC_LIB_RUNTIME_DEVICE_TRACE_H

#include "Plan_generated.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>

namespace xlc::runtime {

/// Nanoseconds on the clock that never goes back.
inline int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// One thing that a rank did: an action of its program of this purpose, or a call of the function that the action runs.
struct TraceEvent {
  plan::Purpose purpose;
  uint32_t action;
  int32_t call; ///< none: -1
  plan::Stream stream;
  int64_t begin, end;
};

/// The events of one rank, of all its streams, in memory that all ranks see: later ones than it has room for are dropped and
/// counted.
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
