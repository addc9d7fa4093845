// The simulated driver by itself: streams run in the order that is asked for, and what is wrong in their use ends the process.
#include "Cuda/Marks.h"
#include "Cuda/Readings.h"
#include "Cuda/Staging.h"
#include "SimulatedMachine.h"

namespace xlc::test {
namespace {

/// Each test has a process of its own for what it does to the device, since the order is read once.
class SimulatedDriver : public testing::TestWithParam<const char *> {};

TEST_P(SimulatedDriver, AWaitOrdersTwoStreams) {
  expectGood(GetParam(), [](Bench &b) {
    b.write(b.first, {1, 2, 3, 4});
    b.letSecondWait();
    expect(b.read(b.second, 4) == std::vector<char>({1, 2, 3, 4}));
  });
}

TEST_P(SimulatedDriver, TheHostOrdersTwoStreams) {
  expectGood(GetParam(), [](Bench &b) {
    b.write(b.first, {1, 2, 3, 4});
    b.driver.waitForStream(b.first.get());
    expect(b.read(b.second, 4) == std::vector<char>({1, 2, 3, 4}));
  });
}

TEST_P(SimulatedDriver, NothingOrdersTwoStreams) {
  expectComplaint(GetParam(),
                  "reads 4 bytes that ('cuMemcpyHtoDAsync of 4 bytes' on another stream writes; "
                  "the two accesses are not ordered|were never written)",
                  [](Bench &b) {
                    b.write(b.first, {1, 2, 3, 4});
                    b.read(b.second, 4);
                  });
}

/// Whichever comes first.
TEST_P(SimulatedDriver, NothingOrdersAWriteAfterARead) {
  expectComplaint(
      GetParam(),
      "4 bytes that 'cuMemcpy...DAsync of 4 bytes' on another stream (reads|writes); the two accesses are not ordered",
      [](Bench &b) {
        b.write(b.first, std::vector<char>(8));
        b.letSecondWait();
        b.driver.copyOnDevice(b.arena.begin() + 16, b.arena.begin(), 4, b.second.get());
        b.write(b.first, {1, 2, 3, 4});
        b.driver.waitForStream(b.second.get());
        b.driver.waitForStream(b.first.get());
      });
}

TEST_P(SimulatedDriver, AnEventOrdersWhatCameBeforeItAlone) {
  expectComplaint(GetParam(), "the two accesses are not ordered|never written", [](Bench &b) {
    b.driver.record(b.event.get(), b.first.get());
    b.write(b.first, {1, 2, 3, 4});
    b.driver.letStreamWait(b.second.get(), b.event.get(), 0);
    b.read(b.second, 4);
  });
}

/// Of whole pages and parts of them: the bytes of one that has been touched as a whole differ from then on.
TEST_P(SimulatedDriver, WhatNothingOrdersInLargeMemory) {
  constexpr uint64_t page = 4096;
  expectGood(GetParam(), [](Bench &b) {
    b.write(b.first, std::vector<char>(3 * page, 1));
    b.letSecondWait();
    b.write(b.second, {2, 2, 2, 2}, page + 100);
    b.write(b.first, {3, 3, 3, 3}, page + 104); // beside it
    b.driver.waitForStream(b.second.get());
    std::vector<char> found = b.read(b.first, 3 * page);
    expect(found[page + 99] == 1 && found[page + 103] == 2 && found[page + 107] == 3 && found[page + 108] == 1);
  });
  expectComplaint(GetParam(),
                  "of 12288 bytes' reads 12288 bytes that 'cuMemcpyHtoDAsync of 4 bytes' on another stream|"
                  "writes 4 bytes that 'cuMemcpyDtoHAsync of 12288 bytes' on another stream reads",
                  [](Bench &b) {
                    b.write(b.first, std::vector<char>(3 * page, 1));
                    b.letSecondWait();
                    b.write(b.second, {2, 2, 2, 2}, page + 100);
                    b.read(b.first, 3 * page);
                    b.driver.waitForStream(b.second.get());
                  });
  expectComplaint(
      GetParam(),
      "(writes|reads) (4|12288) bytes that .* on another stream (writes|reads); the two accesses are not ordered",
      [](Bench &b) {
        b.write(b.first, std::vector<char>(3 * page, 1));
        b.letSecondWait();
        b.driver.copyOnDevice(b.arena.begin() + 4 * page, b.arena.begin() + page, 4, b.second.get());
        b.write(b.first, std::vector<char>(3 * page, 1));
        b.driver.waitForStream(b.second.get());
        b.driver.waitForStream(b.first.get());
      });
}

/// Part of a page is written, and all of it read.
TEST_P(SimulatedDriver, BytesOfAPageThatNobodyWrote) {
  expectComplaint(GetParam(), "reads 4096 bytes that were never written", [](Bench &b) {
    b.write(b.first, std::vector<char>(4095));
    b.read(b.first, 4096);
  });
}

TEST_P(SimulatedDriver, BytesThatNobodyWrote) {
  expectComplaint(GetParam(), "'cuMemcpyDtoHAsync of 4 bytes' reads 4 bytes that were never written", [](Bench &b) {
    b.write(b.first, {1, 2, 3});
    b.read(b.first, 4);
  });
}

TEST_P(SimulatedDriver, BytesOutsideOfItsMemory) {
  expectComplaint(GetParam(), "'cuMemcpyHtoDAsync of 2 bytes' writes 2 bytes outside of the device's memory",
                  [](Bench &b) {
                    b.write(b.first, {1, 2}, b.arena.size() - 1);
                    b.driver.waitForStream(b.first.get());
                  });
}

TEST_P(SimulatedDriver, WhatIsLeft) {
  expectComplaint(GetParam(), "the context is destroyed with 1 events", [](Bench &b) { b.event.release(); });
}

TEST_P(SimulatedDriver, WhatTheRealOneRefuses) {
  expectGood(GetParam(), [](Bench &b) {
    const Driver &driver = b.driver;
    AllocationProperties properties;
    Allocation made;
    expect(driver.create(&made, 1, &properties, 0) == 1); // not of whole granules
    expect(driver.create(&made, uint64_t(1) << 50, &properties, 0) == outOfMemory);
    expect(driver.map(b.arena.begin(), b.arena.size(), 0, 77, 0) == 1);
    expect(driver.record(nullptr, b.first.get()) == 1);
    Library library;
    expect(driver.load(&library, "no PTX", nullptr, nullptr, 0, nullptr, nullptr, 0) == 200);
    expect(driver.describe(200) == "device kernel image is invalid (CUDA_ERROR_INVALID_IMAGE)");
  });
}

/// A piece of the ring is written again only when the copies out of it are over.
TEST_P(SimulatedDriver, StagingKeepsWhatIsNotCopiedYet) {
  expectGood(GetParam(), [](Bench &b) {
    Arena large(b.driver, 0, 3 * Staging::pieces * Staging::pieceBytes);
    Staging staging(b.driver, b.first.get());
    uint64_t block = Staging::pieceBytes / 2 + 8, count = large.size() / block;
    for (uint64_t i = 0; i < count; ++i)
      staging.write(large.begin() + i * block, std::vector<char>(block, char(i)).data(), block);
    for (uint64_t i = 0; i < count; ++i)
      expect(b.read(b.first, block, large.begin() + i * block - b.arena.begin()) == std::vector<char>(block, char(i)));
  });
}

TEST_P(SimulatedDriver, ReadingsAreOfTheirMoment) {
  expectGood(GetParam(), [](Bench &b) {
    Readings readings(b.driver, b.first.get());
    Staging staging(b.driver, b.first.get());
    for (float number : {1.0f, 2.0f, 3.0f, 4.0f}) {
      staging.write(b.arena.begin(), &number, sizeof number);
      readings.begin(unsigned(number) - 1, b.arena.begin());
    }
    for (unsigned slot = 0; slot < 4; ++slot)
      expect(readings.finish(slot) == float(slot + 1));
  });
}

INSTANTIATE_TEST_SUITE_P(Orders, SimulatedDriver, testing::Values("early", "late", "random:1", "random:2"));

TEST(SimulatedDriver, AnEventWithoutTimesAndOneThatWasNotRecordedHaveNone) {
  expectGood("early", [](Bench &b) {
    OwnedEvent timed = makeEvent(b.driver, withTiming);
    float milliseconds;
    EXPECT_EQ(b.driver.describe(b.driver.getElapsedTime(&milliseconds, timed.get(), timed.get())),
              b.driver.describe(400));
    b.driver.record(timed.get(), b.first.get()), b.driver.record(b.event.get(), b.first.get());
    EXPECT_EQ(b.driver.getElapsedTime(&milliseconds, timed.get(), timed.get()), success);
    EXPECT_NE(b.driver.getElapsedTime(&milliseconds, timed.get(), b.event.get()), success);
    if (testing::Test::HasFailure())
      std::exit(1);
  });
}

TEST(SimulatedDriver, MarksAreOnTheClockOfTheHost) {
  expectGood("late", [](Bench &b) {
    Marks marks(b.driver);
    int64_t before = now();
    for (int turn = 0; turn < 3; ++turn) { // each mark is used again
      int64_t first = marks.add(b.first.get());
      b.write(b.first, std::vector<char>(1000, 1));
      int64_t second = marks.add(b.first.get());
      int64_t begin = marks.timeOf(first), end = marks.timeOf(second);
      if (begin < before - 100'000 || end < begin || end > now() + 100'000)
        std::exit(1);
      before = begin;
    }
  });
}

} // namespace
} // namespace xlc::test
