// Distinguishes a job that hangs from one that is only slow.
#include "Job/Watchdog.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

using namespace xlc::runtime;
using namespace xlc::runtime::tiny;

namespace {

constexpr int64_t second = 1'000'000'000;

/// Two ranks, of which nothing runs: their pulses are set by hand.
class WatchdogTest : public testing::Test {
protected:
  void SetUp() override { world.provide(); }
  Pulse &pulse(int rank) { return world.pulses()[(uint64_t)rank * pulsesPerRank]; }
  /// Looks every tenth of a second, with `gap` nanoseconds between; what it says first.
  std::string watch(double seconds, int64_t gap = second / 10) {
    for (double passed = 0; passed < seconds; passed += 0.1)
      if (std::string said = watchdog.look(time += gap); !said.empty())
        return said;
    return "";
  }
  /// As all ranks number it: from the first thing that all see.
  uint64_t numberOf(const std::atomic<uint32_t> &word) const {
    return (uint64_t)((const char *)&word - (const char *)&world.stop());
  }
  void beginStep(uint64_t step) {
    for (int rank : {0, 1})
      pulse(rank).beginAction(step, 3);
    world.board().shown = (uint32_t)step - 1;
  }

  Plan plan = makePlan(3);
  World world{plan, linkedTarget(), {}};
  Watchdog watchdog{world, 5};
  int64_t time = 0;
};

TEST_F(WatchdogTest, NamesTheRankThatDoesNotGoOnAndWhoWaits) {
  beginStep(2);
  std::atomic<uint32_t> word = 7;
  pulse(0).waitFor(numberOf(word), 7);
  EXPECT_EQ(watch(4.9), "");
  EXPECT_EQ(watch(0.5), "error: rank 1, step 2, action 'gradient 0', tensor 'g': no progress for 5.1 s; "
                        "waiting: rank 0, step 2, action 'gradient 0', tensor 'g'");
}

TEST_F(WatchdogTest, WhoWaitsForWhatHasComeIsTheOneThatDoesNotGoOn) {
  beginStep(2);
  std::atomic<uint32_t> came = 8, awaited = 7;
  pulse(0).waitFor(numberOf(awaited), 7);
  pulse(1).waitFor(numberOf(came), 7);
  EXPECT_TRUE(watch(6).starts_with("error: rank 1, step 2"));
  pulse(1).waitFor(numberOf(awaited), 7);
  EXPECT_NE(watch(110).find("and all ranks wait for each other: rank 0, step 2"), std::string::npos);
}

TEST_F(WatchdogTest, WhatTakesLongIsNoHang) {
  EXPECT_EQ(watch(100), ""); // files are read
  beginStep(1);
  EXPECT_EQ(watch(49), ""); // the first step
  beginStep(2);
  EXPECT_EQ(watch(100), ""); // something took 49 s before
  pulse(1).beat();
  world.pulses()->set(Pulse::Speaks);
  EXPECT_EQ(watch(10000), ""); // stdout is a pipe that is not read
}

/// Which shows steps as its host queues them: it waits for the first in the second.
TEST_F(WatchdogTest, TheFirstStepOfAGpuEndsInTheSecondOfItsHost) {
  plan.gpu = "sm_80";
  beginStep(1), beginStep(2);
  EXPECT_EQ(watch(49), "");
  beginStep(3);
  EXPECT_EQ(watch(100), ""); // the first took 49 s
}

TEST_F(WatchdogTest, AGpuThatHangsLaterIsNoticedInTime) {
  plan.gpu = "sm_80";
  beginStep(3);
  EXPECT_EQ(watch(4.9), "");
  EXPECT_NE(watch(0.5), "");
}

/// It may read files, for as long as it likes; a person knows then for whom all wait.
TEST_F(WatchdogTest, WhoHasNotBegunIsNotedOnce) {
  EXPECT_EQ(watch(100), ""); // all read files
  EXPECT_EQ(watchdog.takeNote(), "");
  std::atomic<uint32_t> word = 7;
  pulse(0).waitFor(numberOf(word), 7);
  EXPECT_EQ(watch(4.9), "");
  EXPECT_EQ(watchdog.takeNote(), "");
  EXPECT_EQ(watch(0.5), "");
  EXPECT_EQ(watchdog.takeNote(),
            "note: rank 1 did not start the first step within 5.1 s, and other ranks wait for it: it "
            "is reading files, suspended, or hanging; --timeout applies from the first step on");
  EXPECT_EQ(watch(100), "");
  EXPECT_EQ(watchdog.takeNote(), "");
  Watchdog other(world, 5); // of another process
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(other.look(time += second / 10), "");
  EXPECT_EQ(other.takeNote(), "");
  beginStep(2);
  EXPECT_EQ(watch(4.9), ""); // what was before does not count
  EXPECT_NE(watch(0.5), "");
}

TEST_F(WatchdogTest, TimeInWhichNobodyRanDoesNotCount) {
  beginStep(2);
  EXPECT_EQ(watch(2, 3600 * second), ""); // 20 looks in 20 hours
}

TEST_F(WatchdogTest, ZeroSwitchesItOff) {
  Watchdog off(world, 0);
  beginStep(2);
  for (int i = 0; i < 10000; ++i)
    EXPECT_EQ(off.look(time += second), "");
}

} // namespace
