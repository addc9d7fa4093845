// Rows that are read ahead equal those that a load reads, in any layout and order. The load that needs unreadable rows
// throws the error.
#include "Data/Prefetch.h"
#include "Data/RowSum.h"
#include "Plan/Ranks.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

using namespace xlc::runtime;
using namespace xlc::runtime::tiny;
namespace plan = xlc::plan;

namespace {

std::string take(const DataSource &source, uint32_t input, uint64_t step, uint32_t microBatch, int rank) {
  std::string bytes;
  source.load(input, step, microBatch, rank,
              [&](const void *from, uint64_t count) { bytes.append((const char *)from, count); });
  return bytes;
}

/// The tiny program on a stream of bytes: x is read from a file of rows, ids from the stream.
Plan makeStreamPlan(const std::string &stream, bool shuffles) {
  Plan plan = makePlan(0);
  plan.dataset->inputs[1]->source = plan::InputSource::Tokens, plan.inputs[1]->row_shape = {1};
  plan.dataset->shuffle = shuffles;
  plan.dataset->stream = std::make_unique<plan::TokenStreamT>();
  plan.dataset->stream->files = {stream}, plan.dataset->stream->type = plan::TokenType::U8;
  return plan;
}

class PrefetchOf : public testing::TestWithParam<bool> {
protected:
  PrefetchOf() {
    writeData(folder);
    std::string ids;
    for (size_t i = 0; i < rows; ++i)
      ids += (char)(i % 10);
    folder.write("ids.bin", ids);
    plan = makeStreamPlan(folder.file("ids.bin"), GetParam());
    plan.dataset->inputs[0]->path = folder.file("x.npy");
  }
  Folder folder;
  Plan plan;
  StopSignal stop{};
};

} // namespace

TEST_P(PrefetchOf, GivesWhatALoadReads) {
  constexpr uint64_t steps = 7;
  Data data(plan, {{}, "", 5});
  Prefetch prefetch(plan, data, stop);
  prefetch.reserve(0, ranks);
  prefetch.start(0, steps);
  EXPECT_EQ(prefetch.bytesOf(0), 2 * microBatches * micro * (elements * 4 + 8));
  for (uint64_t step = 0; step < steps + 1; ++step) // one more than it reads ahead for
    for (int rank = 0; rank < (int)ranks; ++rank)
      for (uint32_t k = 0; k < microBatches; ++k)
        for (uint32_t input : {0, 1})
          ASSERT_EQ(take(prefetch, input, step, k, rank), take(data, input, step, k, rank)) << step << " " << rank;
}

TEST_P(PrefetchOf, ALoadOutOfOrderIsReadThen) {
  Data data(plan, {{}, "", 5});
  Prefetch prefetch(plan, data, stop);
  prefetch.reserve(0, ranks);
  prefetch.start(0, 7);
  for (uint64_t step : {3, 0, 5, 1})
    EXPECT_EQ(take(prefetch, 1, step, 1, 0), take(data, 1, step, 1, 0));
}

TEST_P(PrefetchOf, TheSumOfRowsDependsOnNoLayout) {
  auto sumOf = [&](Plan &of) {
    Data data(of, {{}, "", 5});
    RowSum sum(of, data, data);
    uint64_t all = 0;
    for (int rank = 0; rank < (int)rankCount(of); ++rank) {
      for (uint64_t step = 0; step < 5; ++step)
        for (uint32_t k = 0; k < of.micro_batches; ++k)
          for (uint32_t input : {0, 1})
            take(sum, input, step, k, rank);
      all += sum.of(rank);
    }
    return all;
  };
  uint64_t two = sumOf(plan);
  Plan one = makeStreamPlan(folder.file("ids.bin"), GetParam());
  one.dataset->inputs[0]->path = plan.dataset->inputs[0]->path;
  *one.mesh = plan::Mesh(1, 1, 1, 1), one.micro = ranks * micro;
  EXPECT_EQ(sumOf(one), two);
  one.dataset->shuffle = !GetParam();
  EXPECT_NE(sumOf(one), two);
}

INSTANTIATE_TEST_SUITE_P(Orders, PrefetchOf, testing::Bool(),
                         [](const auto &info) { return info.param ? "Shuffled" : "InOrder"; });

TEST(Prefetch, WhatCannotBeReadIsThrownByTheLoadThatNeedsIt) {
  Folder folder;
  writeData(folder);
  std::string ids(rows, '\1');
  ids[13] = 99;
  Plan plan = makeStreamPlan(folder.write("ids.bin", ids), false);
  plan.dataset->inputs[0]->path = folder.file("x.npy");
  StopSignal stop{};
  Data data(plan, {});
  Prefetch prefetch(plan, data, stop);
  prefetch.reserve(0, ranks);
  prefetch.start(0, 7);
  uint32_t asked = 0;
  try {
    for (uint64_t step : {0, 1}) // row 13 is of rank 0's micro-batch 1 in step 1
      for (int rank : {1, 0})
        for (uint32_t k = 0; k < microBatches; ++k)
          for (asked = 0; asked < 2; ++asked)
            take(prefetch, asked, step, k, rank);
    ADD_FAILURE();
  } catch (const std::runtime_error &problem) {
    EXPECT_EQ(problem.what(), folder.file("ids.bin") + ": row 13, column 0: id 99 is outside the table of input 'ids', "
                                                       "which has 10 rows (-100 is ignored)");
  }
  EXPECT_EQ(asked, 1u);
}

TEST(Prefetch, AWaitEndsWithTheJob) {
  Folder folder;
  writeData(folder);
  Plan plan = makePlan(0);
  StopSignal stop{};
  Data data(plan, {{}, folder.file("")});
  Prefetch prefetch(plan, data, stop);
  prefetch.reserve(0, ranks);
  prefetch.start(0, 1000);
  stop.raise(Exit::RankFailed, "another rank failed");
  EXPECT_THROW(
      {
        for (uint64_t step = 0; step < 1000; ++step) // faster than it is read
          for (uint32_t k = 0; k < microBatches; ++k)
            for (uint32_t input : {0, 1})
              take(prefetch, input, step, k, 0);
      },
      Stopped);
}

TEST(Prefetch, MemoryIsThatOfTwoStepsOrOfTheLimit) {
  EXPECT_EQ(readAheadOf(4, 1000, 1).bytes(), 8000u);
  EXPECT_EQ(readAheadOf(4, 16 << 20, 1).bytes(), 64u << 20);
  EXPECT_EQ(readAheadOf(4, 16 << 20, 2).bytes(), 32u << 20);
  EXPECT_EQ(readAheadOf(4, 100 << 20, 1).bytes(), 100u << 20); // one load at least
  EXPECT_EQ(readAheadOf(0, 0, 1).bytes(), 0u);
}
