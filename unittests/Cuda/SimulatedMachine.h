// A simulated GPU as its driver's functions reach it, in a process of its own for each order of streams.
#ifndef XLC_UNITTESTS_CUDA_SIMULATEDMACHINE_H
#define XLC_UNITTESTS_CUDA_SIMULATEDMACHINE_H

#include "Cuda/Arena.h"
#include "Cuda/Handles.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

namespace xlc::test {

using namespace xlc::runtime;
using namespace xlc::runtime::cuda;

/// A device with an arena and two streams.
struct Machine {
  Machine() : driver(XLC_SIMULATED_LIBRARIES) { driver.check(driver.initialize(0), "cuInit"); }
  Driver driver;
};
struct Bench : Machine {
  OwnedContext context{driver, 0};
  Arena arena{driver, 0, 1 << 16};
  OwnedStream first = makeStream(driver), second = makeStream(driver);
  OwnedEvent event = makeEvent(driver);

  void write(OwnedStream &stream, const std::vector<char> &bytes, uint64_t at = 0) {
    driver.check(driver.copyToDevice(arena.begin() + at, bytes.data(), bytes.size(), stream.get()), "copyToDevice");
  }
  std::vector<char> read(OwnedStream &stream, uint64_t count, uint64_t at = 0) {
    std::vector<char> bytes(count);
    driver.check(driver.copyToHost(bytes.data(), arena.begin() + at, count, stream.get()), "copyToHost");
    driver.check(driver.waitForStream(stream.get()), "waitForStream");
    return bytes;
  }
  void letSecondWait() {
    driver.check(driver.record(event.get(), first.get()), "record");
    driver.check(driver.letStreamWait(second.get(), event.get(), 0), "letStreamWait");
  }
};

/// The order of streams is read when a process begins.
template <class Setting = Bench, class Body> [[noreturn]] void runIn(const char *order, Body body) {
  setenv("XLC_SIMULATE_ORDER", order, 1);
  {
    Setting setting;
    body(setting);
  }
  std::exit(0);
}

template <class Setting = Bench, class Body> void expectGood(const char *order, Body body) {
  EXPECT_EXIT(runIn<Setting>(order, body), testing::ExitedWithCode(0), "");
}

template <class Setting = Bench, class Body> void expectComplaint(const char *order, const char *words, Body body) {
  EXPECT_EXIT(runIn<Setting>(order, body), testing::ExitedWithCode(70), words);
}

/// In the process of a body.
inline void expect(bool isTrue) {
  if (!isTrue)
    std::exit(1);
}

} // namespace xlc::test

#endif
