// The cycle is found from the intervals alone. They are in the order of creation, so a period is a range in which each
// interval equals the one `period` positions later, shifted in time.
#include "SteadyState.h"

#include <algorithm>
#include <limits>

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc;

namespace {

/// Intervals [begin, end) equal those `period` places further on, which are live `moments` later.
struct Stretch {
  size_t begin = 0, end = 0, period = 0;
  int64_t moments = 0;

  bool repeats(ArrayRef<Interval> intervals, size_t i) const {
    const Interval &one = intervals[i], &next = intervals[i + period];
    return one.size == next.size && one.alignment == next.alignment && one.first + moments == next.first &&
           one.last + moments == next.last;
  }
};

/// What does not change from period to period: as a row of numbers it has the same period as the intervals.
bool areAlike(ArrayRef<Interval> intervals, size_t a, size_t b) {
  const Interval &one = intervals[a], &other = intervals[b];
  return one.size == other.size && one.alignment == other.alignment &&
         one.last - one.first == other.last - other.first &&
         one.first - intervals[a - 1].first == other.first - intervals[b - 1].first;
}

/// The shortest period of the intervals around the middle, by the failure function of Knuth, Morris and Pratt over a
/// window that doubles until it holds two periods; 0: none.
size_t findPeriod(ArrayRef<Interval> intervals) {
  size_t middle = intervals.size() / 2;
  for (size_t window = 1024; middle + window < intervals.size(); window *= 2) {
    std::vector<size_t> border(window, 0);
    for (size_t i = 1, matched = 0; i < window; border[i++] = matched) {
      while (matched && !areAlike(intervals, middle + i, middle + matched))
        matched = border[matched - 1];
      matched += areAlike(intervals, middle + i, middle + matched);
    }
    size_t period = window - border.back();
    if (2 * period <= window)
      return period;
  }
  return 0;
}

Stretch findStretch(ArrayRef<Interval> intervals) {
  Stretch stretch;
  stretch.period = findPeriod(intervals);
  size_t middle = intervals.size() / 2;
  if (!stretch.period)
    return stretch;
  stretch.moments = int64_t(intervals[middle + stretch.period].first) - intervals[middle].first;
  stretch.begin = stretch.end = middle;
  while (stretch.begin > 0 && stretch.repeats(intervals, stretch.begin - 1))
    --stretch.begin;
  while (stretch.end + stretch.period < intervals.size() && stretch.repeats(intervals, stretch.end))
    ++stretch.end;
  return stretch;
}

/// The first place from `start` on, within a period, that cuts moments as it cuts intervals: all before it begin
/// earlier than all behind it. Intervals that one action makes begin in any order.
std::optional<size_t> findCut(ArrayRef<Interval> intervals, size_t start, size_t period) {
  ArrayRef<Interval> behind = intervals.slice(start, 2 * period);
  std::vector<int> earliest(behind.size() + 1, std::numeric_limits<int>::max());
  for (size_t i = behind.size(); i-- > 0;)
    earliest[i] = std::min(earliest[i + 1], behind[i].first);
  int latest = 0;
  for (const Interval &interval : intervals.slice(start - period, period))
    latest = std::max(latest, interval.first);
  for (size_t i = 0; i < period; latest = std::max(latest, behind[i++].first))
    if (latest < earliest[i])
      return start + i;
  return std::nullopt;
}

} // namespace

std::vector<int64_t> SteadyState::extend(ArrayRef<int64_t> offsets) const {
  ArrayRef<int64_t> untilEnd = offsets.take_front(begin + length), cycle = untilEnd.take_back(length);
  std::vector<int64_t> all(untilEnd.begin(), untilEnd.end());
  for (size_t i = 0; i < repetitions; ++i)
    all.insert(all.end(), cycle.begin(), cycle.end());
  ArrayRef<int64_t> rest = offsets.drop_front(begin + length);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

std::optional<SteadyState> xlc::findSteadyState(ArrayRef<Interval> intervals, size_t least) {
  Stretch stretch = findStretch(intervals);
  if (stretch.end == stretch.begin || stretch.moments <= 0)
    return std::nullopt;
  int64_t longest = 0;
  for (size_t i = stretch.begin; i < stretch.end; ++i)
    longest = std::max<int64_t>(longest, int64_t(intervals[i].last) - intervals[i].first);
  size_t inFlight = longest / stretch.moments + 1, periods = (stretch.end - stretch.begin) / stretch.period;
  SteadyState steady;
  steady.length = inFlight * stretch.period;
  size_t warmUp = 2 * inFlight; // and as many periods at the end
  if (periods < 2 * warmUp + least)
    return std::nullopt;
  auto begin = findCut(intervals, stretch.begin + 2 * steady.length, stretch.period); // the warm-up's are gone by then
  if (!begin)
    return std::nullopt;
  steady.begin = *begin;
  steady.repetitions = (periods - 2 * warmUp) / inFlight;
  size_t cut = steady.begin + steady.length, behind = cut + steady.repetitions * steady.length;
  auto isEarlier = [](const Interval &a, const Interval &b) { return a.first < b.first; };
  int64_t cycle = int64_t(inFlight) * stretch.moments, from = cycle;
  from += llvm::min_element(intervals.slice(steady.begin, stretch.period), isEarlier)->first;
  int64_t left = cycle * int64_t(steady.repetitions), to = from + left;
  for (size_t i = 0; i < intervals.size(); ++i) {
    Interval interval = intervals[i];
    bool isOfCycle = i >= steady.begin - steady.length && i < cut;
    if (i >= cut && i < behind)
      continue;
    if (isOfCycle && interval.last >= from && i >= steady.begin)
      steady.tied.emplace_back(i - steady.length, i);
    else if (i >= cut && interval.first < to)
      return std::nullopt;
    else if (i < cut && interval.last >= from && interval.last < to)
      return std::nullopt; // it ends in what is left out, and is no part of it
    if (interval.first >= to)
      interval.first -= int(left);
    if (interval.last >= to)
      interval.last -= int(left);
    steady.shorter.push_back(interval);
  }
  return steady;
}
