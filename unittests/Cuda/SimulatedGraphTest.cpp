// Captures and graphs of the simulated driver: launches do what was captured, in every order of streams, and what has no place in a
// capture is refused as the real driver refuses it.
#include "SimulatedMachine.h"

#include <thread>

namespace xlc::test {
namespace {

class SimulatedGraph : public testing::TestWithParam<const char *> {};

/// Pinned memory, and its copy to the device as part of what is captured.
struct Recorder : Bench {
  Pinned memory = allocatePinned(driver, 64);
  OwnedLaunchable graph;

  char *host() { return (char *)memory.get(); }
  void copyIn(OwnedStream &stream, uint64_t at, uint64_t bytes) {
    check(driver.copyToDevice(arena.begin() + at, host() + at, bytes, stream.get()));
  }
  void copyWithin(OwnedStream &stream, uint64_t to, uint64_t from, uint64_t bytes) {
    check(driver.copyOnDevice(arena.begin() + to, arena.begin() + from, bytes, stream.get()));
  }
  Status begin() { return driver.beginCapture(first.get(), captureOfThread); }
  Status end() {
    Graph made = nullptr;
    Status status = driver.endCapture(first.get(), &made);
    if (status != success)
      return status;
    OwnedGraph owned(made, {&driver});
    LaunchableGraph launchable = nullptr;
    check(driver.instantiate(&launchable, made, 0));
    graph = OwnedLaunchable(launchable, {&driver});
    return success;
  }
  void launch() { check(driver.launchGraph(graph.get(), first.get())); }
  void letFirstWait() {
    check(driver.record(event.get(), second.get()));
    check(driver.letStreamWait(first.get(), event.get(), 0));
  }
  void check(Status status) { driver.check(status, "of the test"); }
};

/// The first stream writes, the second copies what it wrote, and the first reads that.
void captureFork(Recorder &r, bool isOrdered = true) {
  expect(r.begin() == success);
  r.letSecondWait();
  r.copyIn(r.first, 0, 4);
  if (isOrdered)
    r.letSecondWait();
  r.copyWithin(r.second, 16, 0, 4);
  r.letFirstWait();
  r.copyWithin(r.first, 32, 16, 4);
  expect(r.end() == success);
}

TEST_P(SimulatedGraph, ALaunchDoesWhatWasCaptured) {
  expectGood<Recorder>(GetParam(), [](Recorder &r) {
    captureFork(r);
    for (char value : {1, 2, 3}) {
      std::memset(r.host(), value, 4);
      r.launch();
      expect(r.read(r.first, 4, 32) == std::vector<char>(4, value));
    }
  });
}

TEST_P(SimulatedGraph, NothingRunsUntilItIsLaunched) {
  expectComplaint<Recorder>(GetParam(), "never written", [](Recorder &r) {
    captureFork(r);
    r.read(r.first, 4, 32);
  });
}

TEST_P(SimulatedGraph, StreamsOfAGraphAreOrderedByEventsAlone) {
  expectComplaint<Recorder>(GetParam(), "the two accesses are not ordered|never written", [](Recorder &r) {
    captureFork(r, /*isOrdered=*/false);
    r.launch();
    r.driver.waitForStream(r.first.get());
  });
}

/// It is no more ordered with other streams than a kernel in its own.
TEST_P(SimulatedGraph, ALaunchIsWorkOfItsStreamAlone) {
  expectComplaint<Recorder>(GetParam(), "the two accesses are not ordered|never written", [](Recorder &r) {
    captureFork(r);
    r.launch();
    r.read(r.second, 4, 16);
  });
}

TEST_P(SimulatedGraph, AStreamThatDoesNotComeBack) {
  expectGood<Recorder>(GetParam(), [](Recorder &r) {
    expect(r.begin() == success);
    r.copyIn(r.first, 0, 4);
    r.letSecondWait();
    r.copyWithin(r.second, 16, 0, 4);
    Status status = r.end();
    expect(r.driver.describe(status) == "capturing stream has unjoined work (CUDA_ERROR_STREAM_CAPTURE_UNJOINED)");
    captureFork(r); // both streams are as before
  });
}

/// Each ends the capture, and is refused by itself.
TEST_P(SimulatedGraph, WhatHasNoPlaceInACapture) {
  expectGood<Recorder>(GetParam(), [](Recorder &r) {
    constexpr Status unsupported = 900, invalidated = 901, isolation = 905, implicit = 906, capturedEvent = 907;
    OwnedEvent outside = makeEvent(r.driver);
    r.check(r.driver.record(outside.get(), r.second.get()));
    void *memory = nullptr;
    const std::pair<std::function<Status()>, Status> refusals[] = {
        {[&] { return r.driver.waitForStream(r.first.get()); }, unsupported},
        {[&] { return r.driver.waitForStream(r.second.get()); }, unsupported},
        {[&] { return r.driver.queryEvent(outside.get()); }, unsupported},
        {[&] { return r.driver.waitForEvent(outside.get()); }, unsupported},
        {[&] { return r.driver.allocateHost(&memory, 64, 0); }, unsupported},
        {[&] { return r.driver.fill(r.arena.begin(), 0, 4, nullptr); }, implicit},
        {[&] { return r.driver.letStreamWait(r.first.get(), outside.get(), 0); }, isolation},
    };
    for (const auto &[call, status] : refusals) {
      expect(r.begin() == success);
      expect(call() == status);
      expect(r.driver.fill(r.arena.begin(), 0, 4, r.first.get()) == invalidated);
      expect(r.end() == invalidated);
    }
    captureFork(r);
    expect(r.driver.queryEvent(r.event.get()) == capturedEvent);
    expect(r.driver.letStreamWait(r.first.get(), r.event.get(), 0) == capturedEvent);
  });
}

TEST_P(SimulatedGraph, AnotherThreadMayDoAsItLikes) {
  expectGood<Recorder>(GetParam(), [](Recorder &r) {
    OwnedEvent outside = makeEvent(r.driver);
    expect(r.begin() == success);
    Status status = 1;
    std::thread([&] {
      r.context.enter();
      status = r.driver.waitForEvent(outside.get());
    }).join();
    expect(status == success);
    expect(r.end() == success);
  });
}

INSTANTIATE_TEST_SUITE_P(Orders, SimulatedGraph, testing::Values("early", "late", "random:1", "random:2"));

} // namespace
} // namespace xlc::test
