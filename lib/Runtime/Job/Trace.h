// What ran when, as Chrome trace events (chrome://tracing, Perfetto), in the plan's names.
#ifndef XLC_LIB_RUNTIME_JOB_TRACE_H
#define XLC_LIB_RUNTIME_JOB_TRACE_H

#include <cstdint>
#include <string>
#include <vector>

namespace xlc::runtime {

/// Nanoseconds on the clock that never goes back.
int64_t now();

/// One thing that a rank did. `name` outlives the trace: it is the plan's.
struct TraceEvent {
  const char *name, *kind;
  int64_t begin, end;
};

/// The events of one rank; room for all of them is made at once, later ones are dropped and counted.
class RankTrace {
public:
  void reserve(uint64_t events) { all.reserve(events); }
  void add(const char *name, const char *kind, int64_t begin, int64_t end) {
    if (all.size() < all.capacity())
      all.push_back({name, kind, begin, end});
    else
      ++dropped;
  }
  std::vector<TraceEvent> all;
  uint64_t dropped = 0;
};

/// Writes the traces of all ranks; throws Rejected where `path` cannot be written.
void writeTrace(const std::string &path, const std::vector<RankTrace> &ranks);

} // namespace xlc::runtime

#endif
