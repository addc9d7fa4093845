// Numbers that are not finite, in tensors of every type and of strides; and the step that is run again to find the first.
#include "Job/NonFinite.h"
#include "Job/Examination.h"
#include "Plan/Ranks.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <cmath>

namespace xlc::runtime {
namespace {

plan::ViewT makeView(plan::Element element, std::vector<uint64_t> sizes, std::vector<int64_t> strides) {
  plan::ViewT view;
  view.element = element, view.sizes = std::move(sizes), view.strides = std::move(strides);
  return view;
}

TEST(NonFinite, TheFirstOfEachKindIsFoundInTheOrderOfTheTensor) {
  float memory[] = {1, -INFINITY, -7, NAN, 3, INFINITY};
  NonFinite rows = findNonFinite(makeView(plan::Element::F32, {2, 3}, {3, 1}), (const char *)memory);
  EXPECT_EQ(rows.infinite, 1u);
  EXPECT_EQ(rows.nan, 3u);
  EXPECT_EQ(rows.largest, 7);
  plan::ViewT turned = makeView(plan::Element::F32, {3, 2}, {1, 3}); // of the same memory, transposed
  NonFinite columns = findNonFinite(turned, (const char *)memory);
  EXPECT_EQ(columns.nan, 1u);
  EXPECT_EQ(columns.infinite, 2u);
  EXPECT_EQ(describeIndex(turned, 2), "[1, 0]");
  EXPECT_EQ(describeElement(turned, (const char *)memory, 2), "-inf");
  EXPECT_EQ(describeElement(turned, (const char *)memory, 5), "inf");
  EXPECT_EQ(describeElement(turned, (const char *)memory, 1), "nan");
}

TEST(NonFinite, WhatLiesBetweenElementsIsNotLookedAt) {
  double memory[] = {1, NAN, 2, INFINITY, 3};
  plan::ViewT view = makeView(plan::Element::F64, {3}, {2});
  EXPECT_FALSE(findNonFinite(view, (const char *)memory).isFound());
  EXPECT_EQ(spanOf(view), sizeof memory);
  EXPECT_FALSE(findNonFinite(makeView(plan::Element::F64, {0, 3}, {3, 1}), (const char *)memory).isFound());
  EXPECT_EQ(findNonFinite(makeView(plan::Element::F64, {}, {}), (const char *)(memory + 1)).nan, 0u);
}

TEST(NonFinite, SixteenBitsHaveInfinitiesOfTheirOwn) {
  uint16_t memory[] = {0x7c00, 0x7bff, 0x7f80, 0xff81};
  NonFinite half = findNonFinite(makeView(plan::Element::F16, {2}, {1}), (const char *)memory);
  EXPECT_EQ(half.infinite, 0u);
  EXPECT_FALSE(half.nan);
  EXPECT_EQ(half.largest, 65504);
  NonFinite brain = findNonFinite(makeView(plan::Element::BF16, {4}, {1}), (const char *)memory);
  EXPECT_EQ(brain.infinite, 2u);
  EXPECT_EQ(brain.nan, 3u);
  EXPECT_FALSE(findNonFinite(makeView(plan::Element::I64, {1}, {1}), (const char *)memory).isFound());
}

TEST(Examination, AStepThatIsRunAgainKeepsStatesAndEndsAtASignal) {
  Plan plan = tiny::makePlan(0);
  const plan::ProgramT &program = trainingProgramOf(plan, 0);
  std::vector<char> arena(program.arena);
  Request request{};
  std::atomic<int> signal = 0;
  auto countRun = [&](Examination::Step step) {
    Examination examination(plan, request, signal, step, [&](int) { return RankMemory{nullptr, arena.data(), true}; });
    int count = 0;
    for (uint64_t i = 0; i < program.steps.size(); ++i)
      if (program.steps[i]->action.AsRun())
        examination.call({.rank = 0, .step = 1, .action = i, .call = 0}, nullptr, [&] { ++count; });
    return count;
  };
  int all = countRun(Examination::Step::Observed);
  EXPECT_EQ(countRun(Examination::Step::RunAgain), all - 1) << "the update is not run again";
  signal = 2;
  EXPECT_EQ(countRun(Examination::Step::Observed), all);
  EXPECT_EQ(countRun(Examination::Step::RunAgain), 0);
}

} // namespace
} // namespace xlc::runtime
