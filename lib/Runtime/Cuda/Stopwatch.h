// How long work takes on a GPU, between two events of a stream.
#ifndef XLC_LIB_RUNTIME_CUDA_STOPWATCH_H
#define XLC_LIB_RUNTIME_CUDA_STOPWATCH_H

#include "Handles.h"

#include <algorithm>

namespace xlc::runtime::cuda {

class Stopwatch {
public:
  Stopwatch(const Driver &driver, Stream stream)
      : driver(driver), stream(stream), begin(makeEvent(driver, withTiming)), end(makeEvent(driver, withTiming)) {}

  /// What `work` puts into the stream: the best of some rounds, each of so many times that a millisecond passes, after a first
  /// time that is not counted otherwise. More than 0.
  template <class Work> Milliseconds time(Work work) const {
    constexpr int rounds = 5, most = 256;
    constexpr Milliseconds enough = 1, least = 1e-6F;
    int times = (int)std::clamp(enough / std::max(timeOnce(1, work), least), 1.0F, (float)most);
    Milliseconds best = timeOnce(times, work);
    for (int round = 1; round < rounds; ++round)
      best = std::min(best, timeOnce(times, work));
    return std::max(best / (float)times, least);
  }

  /// What it takes when the device has done nothing else for half of `load`, on the mean of the other half: under load large GPUs lower
  /// their clock, for power's sake.
  template <class Work> Milliseconds timeUnderLoad(Milliseconds load, Work work) const {
    constexpr Milliseconds ofRound = 20;
    constexpr int most = 1024;
    int times = (int)std::clamp(ofRound / time(work), 1.0F, (float)most);
    auto mean = [&] {
      Milliseconds sum = 0;
      int rounds = 0;
      do
        sum += timeOnce(times, work);
      while (++rounds < most && sum < load / 2);
      return sum / (float)(rounds * times);
    };
    mean();
    return mean();
  }

private:
  template <class Work> Milliseconds timeOnce(int times, Work work) const {
    Milliseconds taken = 0;
    driver.check(driver.record(begin.get(), stream), "cuEventRecord");
    for (int i = 0; i < times; ++i)
      work();
    driver.check(driver.record(end.get(), stream), "cuEventRecord");
    driver.check(driver.waitForEvent(end.get()), "cuEventSynchronize");
    driver.check(driver.getElapsedTime(&taken, begin.get(), end.get()), "cuEventElapsedTime");
    return taken;
  }

  const Driver &driver;
  Stream const stream;
  const OwnedEvent begin, end;
};

/// Numbers around 1, in all types: of zeros a GPU needs less power, and is faster. Returns when they are there.
void fillWithNumbers(const Driver &driver, Address begin, uint64_t bytes, Stream stream);

} // namespace xlc::runtime::cuda

#endif
