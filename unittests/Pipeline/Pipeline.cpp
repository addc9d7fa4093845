// All pipeline schedules for 1 to 6 ranks and 1 to 3p micro-batches: each order is right by the checker, bubbles and
// peaks are those of the literature where they hold; and the checker finds what is wrong.
#include "xlc/Pipeline/PipelineCheck.h"
#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace xlc;

namespace {

/// Calls visit(schedule, shape) for every schedule and every shape that fits it.
template <typename Visit> void forEachShape(const Visit &visit) {
  for (const PipelineSchedule &schedule : getPipelineSchedules())
    for (int64_t p = 1; p <= 6; ++p)
      for (int64_t v = schedule.leastChunks; v <= std::max<int64_t>(schedule.mostChunks, 3); ++v)
        for (int64_t m = 1; m <= 3 * p; ++m)
          if (PipelineShape shape{p, v, m}; !findMisfit(schedule, shape)) {
            SCOPED_TRACE(schedule.name.str() + " p=" + std::to_string(p) + " v=" + std::to_string(v) +
                         " m=" + std::to_string(m));
            visit(schedule, shape);
          }
}

/// What the literature says of a rank, in times of one chunk and in forwards of one chunk; none outside its domain.
struct Figures {
  int64_t bubble, peak;
};
std::optional<Figures> figuresOf(llvm::StringRef name, const PipelineShape &shape, const SlotTimes &t, int64_t r) {
  int64_t p = shape.ranks, v = shape.chunksPerRank, m = shape.microBatches, F = t.forward, B = t.backward;
  if (name == "gpipe")
    return Figures{(p - 1 - r) * (F + B), m};
  if (name == "1f1b" && m >= p)
    return Figures{(p - 1 - r) * (F + B), std::min(m, p - r)};
  if (name == "eager-1f1b" && m >= 2 * p - 1)
    return Figures{(p - 1 - r) * (F + B), 2 * (p - r) - 1};
  if (name == "interleaved")
    return Figures{(p - 1 - r) * (F + B), std::min(v * m, (v - 1) * p + 2 * (p - 1 - r) + 1)};
  if (name == "zb-h1" && m >= p)
    return Figures{(p - 1 - r) * (F + t.input - t.weight), p};
  bool isEven = F == t.input && F == t.weight;
  if (name == "zb-h2" && m >= 2 * p - 1 && isEven)
    return Figures{0, 2 * p - 1};
  if (name == "zb-v" && m >= 2 * p - 1 && isEven)
    return Figures{0, 2 * p};
  return std::nullopt;
}

TEST(Pipeline, EveryOrderIsRight) {
  int orders = 0;
  forEachShape([&](const PipelineSchedule &schedule, const PipelineShape &shape) {
    EXPECT_EQ(findOrderError(schedule, shape, makeOrder(schedule, shape)), std::nullopt);
    ++orders;
  });
  EXPECT_EQ(orders, 6 * 63 + 2 * 18);
}

TEST(Pipeline, BubblesAndPeaksAreThoseOfTheLiterature) {
  int compared = 0;
  for (SlotTimes times : {SlotTimes{1, 1, 1, 2}, SlotTimes{2, 3, 1, 4}, SlotTimes{3, 3, 3, 6}})
    forEachShape([&](const PipelineSchedule &schedule, const PipelineShape &shape) {
      PipelineTimes simulated = simulate(schedule, shape, makeOrder(schedule, shape), times);
      for (int64_t r = 0; r < shape.ranks; ++r)
        if (std::optional<Figures> figures = figuresOf(schedule.name, shape, times, r)) {
          EXPECT_EQ(simulated.spanBubble(r), figures->bubble) << "rank " << r;
          EXPECT_EQ(simulated.peaks[r], figures->peak) << "rank " << r;
          ++compared;
        }
    });
  EXPECT_GT(compared, 2000);
}

TEST(Pipeline, BelowTheirDomainZeroBubbleSchedulesIdle) {
  auto bubbles = [](llvm::StringRef name, int64_t chunks, int64_t p) {
    const PipelineSchedule &schedule = *findPipelineSchedule(name);
    PipelineShape shape{p, chunks, name == "zb-h1" ? 2 : p};
    PipelineTimes times = simulate(schedule, shape, makeOrder(schedule, shape), {1, 1, 1, 2});
    std::vector<int64_t> result;
    for (int64_t r = 0; r < p; ++r)
      result.push_back(times.spanBubble(r));
    return result;
  };
  EXPECT_EQ(bubbles("zb-h2", 1, 3), (std::vector<int64_t>{2, 2, 0}));
  EXPECT_EQ(bubbles("zb-h2", 1, 4), (std::vector<int64_t>{3, 3, 2, 0}));
  EXPECT_EQ(bubbles("zb-v", 2, 3)[0], 4);
  EXPECT_EQ(bubbles("zb-v", 2, 4)[0], 6);
  EXPECT_EQ(bubbles("zb-h1", 1, 4), (std::vector<int64_t>{5, 4, 2, 0}));
}

TEST(PipelineCheck, FindsEverySlotThatIsLost) {
  forEachShape([&](const PipelineSchedule &schedule, const PipelineShape &shape) {
    if (shape.ranks > 3)
      return;
    PipelineOrder order = makeOrder(schedule, shape);
    for (size_t rank = 0; rank < order.size(); ++rank)
      for (size_t n = 0; n < order[rank].size(); ++n) {
        PipelineOrder broken = order;
        broken[rank].erase(broken[rank].begin() + n);
        EXPECT_NE(findOrderError(schedule, shape, broken), std::nullopt);
      }
  });
}

TEST(PipelineCheck, SaysWhatIsWrong) {
  const PipelineSchedule &schedule = *findPipelineSchedule("1f1b");
  PipelineShape shape{2, 1, 1};
  PipelineOrder order = makeOrder(schedule, shape);
  auto errorOf = [&](const PipelineOrder &broken) { return findOrderError(schedule, shape, broken).value_or("none"); };
  PipelineOrder broken = order;
  broken[1].push_back({SlotKind::F, 1, 0});
  EXPECT_EQ(errorOf(broken), "rank 1 runs F of chunk 1 for micro-batch 0 twice");
  broken = order;
  broken[1].pop_back();
  EXPECT_EQ(errorOf(broken), "no rank runs B of chunk 1 for micro-batch 0");
  broken = order;
  std::swap(broken[0], broken[1]);
  EXPECT_EQ(errorOf(broken), "rank 0 runs F of chunk 1 for micro-batch 0, which belongs to rank 1");
  broken = order;
  broken[0].push_back({SlotKind::F, 0, 1});
  EXPECT_EQ(errorOf(broken), "rank 0 runs F of chunk 0 for micro-batch 1, which is not part of the step");
  broken = order;
  std::swap(broken[0][0], broken[0][1]);
  EXPECT_EQ(errorOf(broken), "deadlock: rank 0 waits to run B of chunk 0 for micro-batch 0, rank 1 waits to "
                             "run F of chunk 1 for micro-batch 0");
}

TEST(Pipeline, SaysWhatAScheduleNeeds) {
  auto misfit = [](llvm::StringRef name, PipelineShape shape) {
    return findMisfit(*findPipelineSchedule(name), shape).value_or("none");
  };
  EXPECT_EQ(
      misfit("interleaved", {4, 2, 6}),
      "schedule interleaved needs a number of micro-batches divisible by pp = 4, but there are 6; 4 or 8 would work");
  EXPECT_EQ(misfit("interleaved", {4, 2, 2}),
            "schedule interleaved needs a number of micro-batches divisible by pp = 4, but there are 2; 4 would work");
  EXPECT_EQ(misfit("interleaved", {4, 1, 4}), "schedule interleaved needs 2 or more chunks per rank, not 1");
  EXPECT_EQ(misfit("zb-v", {4, 3, 4}), "schedule zb-v needs 2 chunks per rank, not 3");
  EXPECT_EQ(misfit("zb-v", {4, 1, 4}), "schedule zb-v needs 2 chunks per rank, not 1");
  EXPECT_EQ(misfit("1f1b", {4, 2, 4}), "schedule 1f1b needs 1 chunk per rank, not 2");
  EXPECT_EQ(misfit("1f1b", {4, 1, 1}), "none");
}

} // namespace
