// The rendezvous simulator on every small set of timelines, against a search over all orders of rendezvous.
#include "xlc/Schedule/Rendezvous.h"

#include "gtest/gtest.h"

using namespace xlc;

namespace {

using Timelines = std::vector<std::vector<Rendezvous>>;

const Rendezvous all{"all_reduce b0", {0, 1}};
const Rendezvous other{"all_reduce b1", {0, 1}};

/// Whether some order of rendezvous brings every rank to its end: tries each rendezvous that can happen, then all that may
/// follow.
bool canFinish(const Timelines &timelines, std::vector<size_t> next) {
  bool isDone = true;
  for (size_t rank = 0; rank < timelines.size(); ++rank)
    isDone &= next[rank] == timelines[rank].size();
  if (isDone)
    return true;
  for (size_t rank = 0; rank < timelines.size(); ++rank) {
    if (next[rank] == timelines[rank].size())
      continue;
    const Rendezvous &rendezvous = timelines[rank][next[rank]];
    std::vector<size_t> after = next;
    bool happens = true;
    for (int member : rendezvous.ranks) {
      happens &= next[member] < timelines[member].size() && timelines[member][next[member]] == rendezvous;
      ++after[member];
    }
    if (happens && canFinish(timelines, after))
      return true;
  }
  return false;
}

/// Calls `visit` with every choice of up to `length` rendezvous for each rank from the given ones.
template <typename Visit>
void forEachTimelines(const std::vector<std::vector<Rendezvous>> &choices, size_t length, Timelines &timelines,
                      const Visit &visit) {
  if (timelines.size() == choices.size())
    return visit();
  const std::vector<Rendezvous> &mine = choices[timelines.size()];
  size_t count = 1;
  for (size_t n = 0; n <= length; ++n, count *= mine.size())
    for (size_t code = 0; code < count; ++code) {
      std::vector<Rendezvous> timeline;
      for (size_t i = 0, rest = code; i < n; ++i, rest /= mine.size())
        timeline.push_back(mine[rest % mine.size()]);
      timelines.push_back(timeline);
      forEachTimelines(choices, length, timelines, visit);
      timelines.pop_back();
    }
}

TEST(FindDeadlock, AgreesWithSearchOnEveryTimelineOfThreeRanks) {
  // Groups as hybrid sharding has them, and one of all.
  const Rendezvous a{"a", {0, 1}}, b{"b", {1, 2}}, c{"c", {0, 1, 2}};
  Timelines timelines;
  int finished = 0, stuck = 0;
  forEachTimelines({{a, c}, {a, b, c}, {b, c}}, 3, timelines, [&] {
    bool expected = canFinish(timelines, std::vector<size_t>(3, 0));
    ASSERT_EQ(!findDeadlock(timelines).has_value(), expected);
    ++(expected ? finished : stuck);
  });
  EXPECT_EQ(finished, 1 + 3 + 9 + 27) << "one for each timeline of rank 1, which every rendezvous includes";
  EXPECT_GT(stuck, 1000);
}

TEST(FindDeadlock, RanksThatReduceInDifferentOrdersWaitForEachOther) {
  EXPECT_FALSE(findDeadlock({{all, other}, {all, other}}));
  EXPECT_EQ(findDeadlock({{all, other}, {other, all}}),
            "deadlock: rank 0 waits for 'all_reduce b0', rank 1 waits for 'all_reduce b1'");
}

TEST(FindDeadlock, ARankThatDoesNotComeLeavesTheOthersWaiting) {
  EXPECT_EQ(findDeadlock({{all, other}, {all}}), "deadlock: rank 0 waits for 'all_reduce b1'");
}

TEST(FindDeadlock, GroupsThatShareNoRankGoOnByThemselves) {
  const Rendezvous left{"left", {0, 1}}, right{"right", {2, 3}}, everybody{"everybody", {0, 1, 2, 3}};
  EXPECT_FALSE(
      findDeadlock({{left, left, everybody}, {left, left, everybody}, {right, everybody}, {right, everybody}}));
}

TEST(FindDeadlock, NobodyWaitsInAnEmptyTimeline) {
  EXPECT_FALSE(findDeadlock({}));
  EXPECT_FALSE(findDeadlock({{}, {}}));
}

} // namespace
