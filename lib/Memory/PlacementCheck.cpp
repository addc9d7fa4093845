// The conditions that any placement must satisfy, checked by one sweep over time, independently of the placement
// algorithm.
//
// At each moment the intervals that have ended are removed before those that begin are added. So the set of live
// intervals, sorted by offset, is disjoint as long as every new one is disjoint from its two neighbours.
#include "xlc/Memory/Placement.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

using namespace llvm;

namespace xlc {
namespace {

struct Event {
  int64_t time;
  bool isBegin; ///< sorts after the ends of the same time
  size_t index;
};

/// Begins at `first`, ends just after `last`, in the order of time. Empty buffers are left out.
std::vector<Event> listEvents(ArrayRef<Interval> intervals) {
  std::vector<Event> events;
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].size == 0)
      continue;
    events.push_back({intervals[i].first, true, i});
    events.push_back({int64_t(intervals[i].last) + 1, false, i});
  }
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return std::tie(a.time, a.isBegin, a.index) < std::tie(b.time, b.isBegin, b.index);
  });
  return events;
}

Quantity sweepEvents(ArrayRef<Interval> intervals) {
  Quantity live, highest;
  for (const Event &event : listEvents(intervals)) {
    live += event.isBegin ? intervals[event.index].size : -intervals[event.index].size;
    highest = std::max(highest, live);
  }
  return highest;
}

/// The same where all moments are below `end`.
Quantity sweepMoments(ArrayRef<Interval> intervals, int64_t end) {
  std::vector<Quantity> changes(end + 1);
  for (const Interval &interval : intervals) {
    changes[interval.first] += interval.size;
    changes[int64_t(interval.last) + 1] += -interval.size;
  }
  Quantity live, highest;
  for (Quantity change : changes)
    highest = std::max(highest, live += change);
  return highest;
}

} // namespace

Quantity lowerBound(ArrayRef<Interval> intervals) {
  // Moments are few beside intervals where there are many of them: no need to sort.
  int64_t end = 0;
  for (const Interval &interval : intervals)
    end = std::max(end, int64_t(interval.last) + 1);
  bool isDense = end <= 64 * int64_t(intervals.size());
  return isDense ? sweepMoments(intervals, end) : sweepEvents(intervals);
}

std::optional<std::pair<size_t, size_t>> findOverlap(ArrayRef<Interval> intervals, ArrayRef<int64_t> offsets) {
  std::map<int64_t, size_t> live; // by offset
  for (const Event &event : listEvents(intervals)) {
    int64_t begin = offsets[event.index], end = begin + intervals[event.index].size;
    if (!event.isBegin) {
      live.erase(begin);
      continue;
    }
    auto above = live.lower_bound(begin);
    if (above != live.end() && above->first < end)
      return std::minmax(event.index, above->second);
    if (above != live.begin()) {
      auto below = std::prev(above);
      if (below->first + intervals[below->second].size > begin)
        return std::minmax(event.index, below->second);
    }
    live.emplace(begin, event.index);
  }
  return std::nullopt;
}

} // namespace xlc
