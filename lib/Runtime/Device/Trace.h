// What ran when, in the plan's names: kept while ranks run, written by Job/TraceFile.h.
#ifndef XLC_LIB_RUNTIME_DEVICE_TRACE_H
#define XLC_LIB_RUNTIME_DEVICE_TRACE_H

#include "Plan_generated.h"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

namespace xlc::runtime {

/// Nanoseconds on the clock that never goes back.
inline int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// One thing that a rank did. `name` outlives the trace: it is the plan's.
struct TraceEvent {
  const char *name, *kind;
  plan::Stream stream;
  int64_t begin, end;
};

/// The events of one rank, of all its streams; room for all of them is made at once, later ones are dropped and counted.
class RankTrace {
public:
  void reserve(uint64_t events) { all.reserve(events); }
  void add(const TraceEvent &event) {
    std::lock_guard lock(mutex);
    if (all.size() < all.capacity())
      all.push_back(event);
    else
      ++dropped;
  }
  std::vector<TraceEvent> all;
  uint64_t dropped = 0;

private:
  std::mutex mutex; ///< streams may be threads
};

} // namespace xlc::runtime

#endif
