// Stages in balance, against every way to cut.
#include "xlc/Stage/Balance.h"
#include "llvm/ADT/STLExtras.h"

#include <random>

#include "gtest/gtest.h"

using namespace xlc;

namespace {

/// The largest time and the largest memory of a cut.
std::pair<Quantity, Quantity> worstOf(llvm::ArrayRef<UnitCost> units, llvm::ArrayRef<int64_t> inFlight,
                                      llvm::ArrayRef<size_t> ends) {
  Quantity worstTime, worstMemory;
  size_t begin = 0;
  for (auto [stage, end] : llvm::enumerate(ends)) {
    Quantity time, memory;
    for (; begin < end; ++begin) {
      time += units[begin].time;
      memory += units[begin].stateBytes + inFlight[stage] * units[begin].residualBytes;
    }
    worstTime = std::max(worstTime, time);
    worstMemory = std::max(worstMemory, memory);
  }
  return {worstTime, worstMemory};
}

/// The best over all cuts from stage `ends.size()` on.
void tryAll(llvm::ArrayRef<UnitCost> units, llvm::ArrayRef<int64_t> inFlight, std::vector<size_t> &ends,
            std::pair<Quantity, Quantity> &best) {
  if (ends.size() + 1 == inFlight.size()) {
    ends.push_back(units.size());
    best = std::min(best, worstOf(units, inFlight, ends));
    ends.pop_back();
    return;
  }
  size_t begin = ends.empty() ? 0 : ends.back(), left = inFlight.size() - ends.size() - 1;
  for (size_t end = begin + 1; end + left <= units.size(); ++end) {
    ends.push_back(end);
    tryAll(units, inFlight, ends, best);
    ends.pop_back();
  }
}

TEST(BalanceStages, IsTheFastestAndThenTheSmallestOfAllCuts) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    size_t count = 1 + random() % 9, stages = 1 + random() % count;
    std::vector<UnitCost> units;
    for (size_t i = 0; i < count; ++i)
      units.push_back({int64_t(random() % 5), int64_t(random() % 9), int64_t(random() % 4)});
    std::vector<int64_t> inFlight;
    for (size_t s = 0; s < stages; ++s)
      inFlight.push_back(stages - s);
    std::vector<size_t> ends = balanceStages(units, inFlight), tried;
    ASSERT_EQ(ends.size(), stages);
    EXPECT_EQ(ends.back(), count);
    EXPECT_TRUE(llvm::is_sorted(ends, std::less_equal<>())) << "every stage has a unit";
    std::pair<Quantity, Quantity> best(1000, 1000);
    tryAll(units, inFlight, tried, best);
    EXPECT_EQ(worstOf(units, inFlight, ends), best);
  }
}

TEST(BalanceStages, ALargeHeadTakesTheRoomOfLayers) {
  std::vector<UnitCost> units(8, UnitCost{10, 0, 0});
  units.back().time = 30;
  EXPECT_EQ(balanceStages(units, {1, 1}), (std::vector<size_t>{5, 8}));
}

TEST(BalanceRanks, AHeadOfOneChunkIsMadeUpForByTheOtherChunkOfItsRank) {
  // Eight layers and a head as heavy as three, in four chunks on two ranks, placed in a V: 0 1 1 0.
  std::vector<UnitCost> units(9, UnitCost{10, 0, 0});
  units.back().time = 30;
  std::vector<int64_t> inFlight(4, 1), rankOf{0, 1, 1, 0};
  std::vector<size_t> ends = balanceStages(units, inFlight);
  balanceRanks(units, inFlight, rankOf, ends);
  Quantity first;
  for (size_t stage = 0, unit = 0; stage < 4; ++stage)
    for (; unit < ends[stage]; ++unit)
      first += rankOf[stage] == 0 ? units[unit].time : Quantity();
  EXPECT_LE(std::max<Quantity>(first, 110 - first), 60);
}

TEST(BalanceRanks, NeverMakesTheSlowestRankSlower) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    size_t count = 4 + random() % 8;
    std::vector<UnitCost> units;
    for (size_t i = 0; i < count; ++i)
      units.push_back({int64_t(random() % 9), int64_t(random() % 9), int64_t(random() % 4)});
    std::vector<int64_t> inFlight(4, 2), rankOf{0, 1, 0, 1};
    auto slowest = [&](llvm::ArrayRef<size_t> ends) {
      Quantity times[2] = {};
      for (size_t stage = 0, unit = 0; stage < 4; ++stage)
        for (; unit < ends[stage]; ++unit)
          times[rankOf[stage]] += units[unit].time;
      return std::max(times[0], times[1]);
    };
    std::vector<size_t> before = balanceStages(units, inFlight), after = before;
    balanceRanks(units, inFlight, rankOf, after);
    EXPECT_LE(slowest(after), slowest(before));
    EXPECT_TRUE(after.front() > 0 && after.back() == count && llvm::is_sorted(after, std::less_equal<>()));
  }
}

} // namespace
