// Measures the duration of work on a GPU, between two events of a stream.
#ifndef XLC_LIB_RUNTIME_CUDA_STOPWATCH_H
#define XLC_LIB_RUNTIME_CUDA_STOPWATCH_H

#include "Handles.h"

#include <algorithm>

namespace xlc::runtime::cuda {

class Stopwatch {
public:
  Stopwatch(const Driver &driver, Stream stream)
      : driver(driver), stream(stream), begin(makeEvent(driver, withTiming)), end(makeEvent(driver, withTiming)) {}

  /// The duration of the requests of `work`: the minimum over several rounds, each of which repeats them for a
  /// millisecond, after one warm-up. More than 0.
  template <class Work> Milliseconds time(Work work) const {
    constexpr int rounds = 5, most = 256;
    constexpr Milliseconds enough = 1, least = 1e-6F;
    int times = (int)std::clamp(enough / std::max(timeOnce(1, work), least), 1.0F, (float)most);
    Milliseconds best = timeOnce(times, work);
    for (int round = 1; round < rounds; ++round)
      best = std::min(best, timeOnce(times, work));
    return std::max(best / (float)times, least);
  }

  /// The duration on a device that has run nothing else for half of `load`: the mean over the other half. Under load,
  /// large GPUs reduce their clock to limit the power.
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

/// Fills memory with numbers around 1, in all types: with zeros a GPU requires less power and is faster. Returns when
/// they are written.
void fillWithNumbers(const Driver &driver, Address begin, uint64_t bytes, Stream stream);

} // namespace xlc::runtime::cuda

#endif
