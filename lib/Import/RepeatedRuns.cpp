// See RepeatedRuns.h.
//
// For each period p, stretches where element i equals element i + p are found in one sweep; a stretch of
// length l from s on is (l / p + 1) repetitions. Quadratic in the number of elements, which
// are atoms of a model: a few hundred.
#include "RepeatedRuns.h"

#include <algorithm>

using namespace xlc;

namespace {

struct Run {
  size_t begin = 0, period = 0, count = 0;
  int64_t weight = 0;
  size_t end() const { return begin + period * count; }
};

class Namer {
public:
  explicit Namer(const std::vector<RunElement> &elements) : elements(elements) {
    for (const RunElement &element : elements)
      sums.push_back(sums.back() + element.weight);
  }

  std::vector<UnitName> name() {
    collect(0, elements.size());
    std::sort(runs.begin(), runs.end(), [](const Run &a, const Run &b) { return a.begin < b.begin; });
    std::vector<UnitName> names;
    for (size_t r = 0; r < runs.size(); ++r) {
      fill(names, runs[r].begin, r == 0 ? "embed" : numbered("middle", r));
      for (size_t i = 0; i < runs[r].count * runs[r].period; ++i)
        names.push_back({numbered("layer", r + 1), (int64_t)(i / runs[r].period)});
    }
    fill(names, elements.size(), runs.empty() ? "model" : "head");
    return names;
  }

private:
  static std::string numbered(const char *stem, size_t number) {
    return number == 1 ? stem : stem + std::to_string(number);
  }

  static void fill(std::vector<UnitName> &names, size_t end, const std::string &className) {
    while (names.size() < end)
      names.push_back({className, 0});
  }

  /// Runs within [begin, end), the heaviest first, then those beside it.
  void collect(size_t begin, size_t end) {
    Run best;
    for (size_t period = 1; 2 * period <= end - begin; ++period)
      findHeaviest(begin, end, period, best);
    if (best.count == 0)
      return;
    runs.push_back(best);
    collect(begin, best.begin);
    collect(best.end(), end);
  }

  void findHeaviest(size_t begin, size_t end, size_t period, Run &best) {
    size_t start = begin;
    for (size_t i = begin; i + period <= end; ++i) {
      bool isEqual = i + period < end && elements[i].structure == elements[i + period].structure;
      if (isEqual)
        continue;
      size_t length = i - start;
      if (length >= period)
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
      bool learns = std::any_of(elements.begin() + run.begin, elements.begin() + run.begin + period,
                                [](const RunElement &element) { return element.hasParameter; });
      bool wins = run.weight > best.weight || (run.weight == best.weight && run.begin < best.begin);
      if (learns && wins)
        best = run;
    }
  }

  const std::vector<RunElement> &elements;
  std::vector<int64_t> sums{0};
  std::vector<Run> runs;
};

} // namespace

std::vector<UnitName> xlc::nameUnits(const std::vector<RunElement> &elements) { return Namer(elements).name(); }
