// The best cuts of n units into k stages, by dynamic programming over (stages, units used): once for time, and once
// more for memory among the cuts that are equally fast.
#include "xlc/Stage/Balance.h"

#include <limits>
#include <tuple>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

using namespace xlc;

namespace {

/// More than any cost.
constexpr Quantity never = Quantity(std::numeric_limits<int64_t>::max()) * std::numeric_limits<int64_t>::max();

/// The cuts whose largest cost is least. `cost(stage, begin, end)` of a run of units; `never` where it may not be.
std::vector<size_t> minimizeLargest(size_t units, size_t stages,
                                    llvm::function_ref<Quantity(size_t, size_t, size_t)> cost, Quantity &largest) {
  std::vector<std::vector<Quantity>> best(stages + 1, std::vector<Quantity>(units + 1, never));
  std::vector<std::vector<size_t>> begin(stages + 1, std::vector<size_t>(units + 1, 0));
  best[0][0] = 0;
  for (size_t k = 1; k <= stages; ++k)
    for (size_t end = k; end + (stages - k) <= units; ++end)
      for (size_t from = k - 1; from < end; ++from) {
        if (best[k - 1][from] == never)
          continue;
        Quantity worst = std::max(best[k - 1][from], cost(k - 1, from, end));
        if (worst < best[k][end]) {
          best[k][end] = worst;
          begin[k][end] = from;
        }
      }
  largest = best[stages][units];
  std::vector<size_t> ends(stages);
  size_t end = units;
  for (size_t k = stages; k > 0; --k) {
    ends[k - 1] = end;
    end = begin[k][end];
  }
  return ends;
}

} // namespace

std::vector<size_t> xlc::balanceStages(llvm::ArrayRef<UnitCost> units, llvm::ArrayRef<int64_t> inFlight) {
  std::vector<UnitCost> before(1); // sums of the units before each
  for (const UnitCost &unit : units) {
    const UnitCost &last = before.back();
    before.push_back(
        {last.time + unit.time, last.stateBytes + unit.stateBytes, last.residualBytes + unit.residualBytes});
  }
  auto time = [&](size_t, size_t from, size_t end) { return before[end].time - before[from].time; };
  Quantity fastest, smallest;
  minimizeLargest(units.size(), inFlight.size(), time, fastest);
  auto memory = [&](size_t stage, size_t from, size_t end) {
    if (time(stage, from, end) > fastest)
      return never;
    return before[end].stateBytes - before[from].stateBytes +
           inFlight[stage] * (before[end].residualBytes - before[from].residualBytes);
  };
  return minimizeLargest(units.size(), inFlight.size(), memory, smallest);
}

namespace {

/// What is to be small: the largest time of a rank and of a stage, the largest memory of a rank.
using Weight = std::tuple<Quantity, Quantity, Quantity>;

Weight weigh(llvm::ArrayRef<UnitCost> units, llvm::ArrayRef<int64_t> inFlight, llvm::ArrayRef<int64_t> rankOf,
             llvm::ArrayRef<size_t> ends) {
  std::vector<UnitCost> ranks(*llvm::max_element(rankOf) + 1);
  Quantity slowestStage;
  size_t unit = 0;
  for (size_t stage = 0; stage < ends.size(); ++stage) {
    UnitCost &rank = ranks[rankOf[stage]];
    Quantity time;
    for (; unit < ends[stage]; ++unit) {
      time += units[unit].time;
      rank.stateBytes += units[unit].stateBytes + inFlight[stage] * units[unit].residualBytes;
    }
    rank.time += time;
    slowestStage = std::max(slowestStage, time);
  }
  Weight weight(0, slowestStage, 0);
  for (const UnitCost &rank : ranks) {
    std::get<0>(weight) = std::max(std::get<0>(weight), rank.time);
    std::get<2>(weight) = std::max(std::get<2>(weight), rank.stateBytes);
  }
  return weight;
}

} // namespace

void xlc::balanceRanks(llvm::ArrayRef<UnitCost> units, llvm::ArrayRef<int64_t> inFlight, llvm::ArrayRef<int64_t> rankOf,
                       std::vector<size_t> &ends) {
  Weight best = weigh(units, inFlight, rankOf, ends);
  auto isLegal = [](llvm::ArrayRef<size_t> tried) {
    return tried.front() > 0 && llvm::is_sorted(tried, std::less_equal<>());
  };
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (size_t first = 0; first + 1 < ends.size(); ++first) // one unit leaves a stage, or passes through several
      for (size_t last = first; last + 1 < ends.size(); ++last)
        for (int direction : {-1, 1}) {
          std::vector<size_t> tried = ends;
          for (size_t cut = first; cut <= last; ++cut)
            tried[cut] += direction;
          if (!isLegal(tried))
            continue;
          Weight weight = weigh(units, inFlight, rankOf, tried);
          if (weight < best) {
            best = weight;
            ends = tried;
            isMoving = true;
          }
        }
  }
}
