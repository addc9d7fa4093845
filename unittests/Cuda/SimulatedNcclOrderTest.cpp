// Several communicators of one device: the real NCCL lets their operations wait for each other for ever, unless it is asked for the
// order in which the host makes them, and where one is aborted while another is under way.
#include "SimulatedRanks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

using namespace xlc::test;

namespace {

constexpr const char *ordering = "NCCL_LAUNCH_ORDER_IMPLICIT";

/// Another communicator of all ranks.
nccl::Handle splitAll(Rank &rank) {
  nccl::Config config;
  nccl::Handle made = nullptr;
  expect(rank.nccl.split(rank.all, 0, rank.number, &made, &config) == nccl::Status::Success);
  return made;
}

void sumBeside(Rank &rank, nccl::Handle communicator) {
  rank.nccl.allReduce(rank.given(), rank.place(2 * Rank::count), Rank::count, DataType::I32, Reduction::Sum,
                      communicator, rank.beside.get());
}

/// One sum in each of two communicators and streams; which comes first, `isSwapped` says.
void sumInBoth(Rank &rank, bool isSwapped) {
  nccl::Handle other = splitAll(rank);
  isSwapped ? sumBeside(rank, other) : (void)rank.sum();
  isSwapped ? (void)rank.sum() : sumBeside(rank, other);
  rank.wait();
  rank.driver.waitForStream(rank.beside.get());
  expect(rank.nccl.destroy(other) == nccl::Status::Success);
}

void expectEnd(const char *order, int code, const char *words, const Body &body) {
  EXPECT_EXIT(runRanks(order, 2, body), testing::ExitedWithCode(code), words);
}

TEST(SimulatedNcclOrder, SeveralCommunicatorsAskForTheHostsOrder) {
  for (const char *order : {"early", "late", "random:1"}) {
    unsetenv(ordering);
    expectEnd(order, 70, "operations of several communicators of a device are not ordered",
              [](Rank &rank) { sumInBoth(rank, false); });
    setenv(ordering, "1", 1);
    expectEnd(order, 0, "", [](Rank &rank) { sumInBoth(rank, false); });
  }
}

TEST(SimulatedNcclOrder, HostsWithOtherOrdersWaitForEver) {
  setenv(ordering, "1", 1);
  expectEnd("late", 70, "waits for rank ., which does not arrive",
            [](Rank &rank) { sumInBoth(rank, rank.number == 1); });
}

TEST(SimulatedNcclOrder, AGroupAbortsAllAtOnce) {
  setenv(ordering, "1", 1);
  auto abortBoth = [](Rank &rank, bool isGroup) {
    nccl::Handle other = splitAll(rank);
    if (rank.number == 0) // the other rank does not come
      rank.sum(), sumBeside(rank, other);
    if (isGroup)
      rank.nccl.beginGroup();
    rank.nccl.abort(std::exchange(rank.all, nullptr)), rank.nccl.abort(other);
    if (isGroup)
      rank.nccl.endGroup();
    rank.driver.waitForStream(rank.beside.get());
  };
  for (const char *order : {"early", "late"}) {
    expectEnd(order, 0, "", [&](Rank &rank) { abortBoth(rank, true); });
    expectEnd(order, 70, "a communicator is aborted before another one", [&](Rank &rank) { abortBoth(rank, false); });
  }
}

} // namespace
