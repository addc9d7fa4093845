// See RepeatedRuns.h.
//
// For each period p, one sweep finds the ranges in which element i equals element i + p; a range of length l from s on
// is (l / p + 1) repetitions. Quadratic in the number of elements, which are atoms of a model: a few hundred. Longer
// sequences are searched for short periods only, so that no file takes more than a second.
#include "RepeatedRuns.h"

#include <algorithm>

using namespace xlc;

namespace {

constexpr size_t maximumClasses = 32;
constexpr size_t maximumBlocks = 64;
constexpr size_t comparisons = size_t(1) << 24; ///< per class that is searched for

struct Segment {
  size_t begin, end;
};

struct Run {
  size_t begin = 0, period = 0, count = 0;
  int64_t weight = 0;
  size_t end() const { return begin + period * count; }
};

class Namer {
public:
  explicit Namer(const std::vector<RunElement> &elements) : elements(elements) {
    for (const RunElement &element : elements) {
      sums.push_back(sums.back() + element.weight);
      learning.push_back(learning.back() + element.hasParameter);
    }
  }

  std::vector<UnitName> name() {
    std::vector<Segment> rest{{0, elements.size()}};
    while (classes.size() < maximumClasses) {
      Run best;
      for (Segment segment : rest)
        for (size_t period = 1; period <= longestPeriod(segment); ++period)
          findHeaviest(segment, period, best);
      if (best.count == 0)
        break;
      rest = takeInstances(best, rest);
    }
    auto isEarlier = [](const auto &a, const auto &b) { return a.front().begin < b.front().begin; };
    std::sort(classes.begin(), classes.end(), isEarlier);
    return nameAll();
  }

private:
  size_t longestPeriod(Segment segment) const {
    size_t affordable = std::max<size_t>(64, comparisons / std::max<size_t>(1, elements.size()));
    return std::min((segment.end - segment.begin) / 2, affordable);
  }

  void findHeaviest(Segment segment, size_t period, Run &best) {
    size_t start = segment.begin;
    for (size_t i = segment.begin; i + period <= segment.end; ++i) {
      bool isEqual = i + period < segment.end && elements[i].structure == elements[i + period].structure;
      if (isEqual)
        continue;
      size_t length = i - start;
      if (length >= period && learning[start + period] > learning[start])
        considerStretch(start, length, period, best);
      start = i + 1;
    }
  }

  /// A stretch may hold fewer whole periods than elements: the best offset within it counts.
  void considerStretch(size_t start, size_t length, size_t period, Run &best) {
    size_t count = length / period + 1, slack = length % period;
    for (size_t offset = 0; offset <= slack; ++offset) {
      Run run{start + offset, period, count, 0};
      run.weight = sums[run.end()] - sums[run.begin];
      bool wins = run.weight > best.weight || (run.weight == best.weight && run.begin < best.begin);
      if (wins)
        best = run;
    }
  }

  /// Makes a class of the run and of all that equals its period elsewhere; returns what remains of `rest`.
  std::vector<Segment> takeInstances(const Run &run, const std::vector<Segment> &rest) {
    std::vector<Segment> instances, remaining;
    auto search = [&](size_t begin, size_t end) {
      size_t start = begin;
      for (size_t i = begin; i + run.period <= end; ++i) {
        if (!equalsPeriod(run, i))
          continue;
        remaining.push_back({start, i});
        instances.push_back({i, i + run.period});
        start = i + run.period;
        i = start - 1;
      }
      remaining.push_back({start, end});
    };
    for (Segment segment : rest) {
      bool holdsRun = segment.begin <= run.begin && run.end() <= segment.end;
      search(segment.begin, holdsRun ? run.begin : segment.end);
      if (holdsRun)
        search(run.begin, segment.end);
    }
    classes.push_back(std::move(instances));
    std::erase_if(remaining, [](Segment segment) { return segment.begin == segment.end; });
    return remaining;
  }

  bool equalsPeriod(const Run &run, size_t begin) const {
    for (size_t i = 0; i < run.period; ++i)
      if (elements[begin + i].structure != elements[run.begin + i].structure)
        return false;
    return true;
  }

  std::vector<UnitName> nameAll() const {
    std::vector<UnitName> names(elements.size());
    for (size_t c = 0; c < classes.size(); ++c)
      for (size_t i = 0; i < classes[c].size(); ++i)
        for (size_t at = classes[c][i].begin; at < classes[c][i].end; ++at)
          names[at] = {numbered("layer", c + 1), (int64_t)i, true};
    size_t gap = 0;
    for (size_t at = 0; at < names.size();) {
      size_t end = at;
      while (end < names.size() && names[end].className.empty())
        ++end;
      std::string className = classes.empty()       ? "model"
                              : at == 0             ? "embed"
                              : end == names.size() ? "head"
                              : end > at            ? numbered("middle", ++gap)
                                                    : "";
      for (; at < end; ++at)
        names[at].className = className;
      at = end + 1;
    }
    return names;
  }

  static std::string numbered(const char *stem, size_t number) {
    return number == 1 ? stem : stem + std::to_string(number);
  }

  const std::vector<RunElement> &elements;
  std::vector<int64_t> sums{0};
  std::vector<int> learning{0}; ///< elements with parameters before each
  std::vector<std::vector<Segment>> classes;
};

} // namespace

std::vector<UnitName> xlc::nameBlocks(const std::vector<RunElement> &elements) {
  auto hasParameter = [](const RunElement &element) { return element.hasParameter; };
  size_t count = std::ranges::count_if(elements, hasParameter), joined = (count + maximumBlocks - 1) / maximumBlocks;
  std::vector<UnitName> names;
  size_t seen = 0;
  for (const RunElement &element : elements) {
    seen += element.hasParameter;
    size_t number = (std::max<size_t>(seen, 1) - 1) / std::max<size_t>(joined, 1) + 1;
    names.push_back({number == 1 ? "block" : "block" + std::to_string(number)});
  }
  return names;
}

std::vector<UnitName> xlc::nameUnits(const std::vector<RunElement> &elements) { return Namer(elements).name(); }
