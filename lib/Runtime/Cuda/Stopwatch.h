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

  /// What `work` puts into the stream, once: the best of some rounds, after one that is not counted. More than 0.
  template <class Work> Milliseconds time(Work work) const {
    constexpr int rounds = 5;
    Milliseconds best = 0;
    for (int round = 0; round <= rounds; ++round) {
      Milliseconds taken = 0;
      driver.check(driver.record(begin.get(), stream), "cuEventRecord");
      work();
      driver.check(driver.record(end.get(), stream), "cuEventRecord");
      driver.check(driver.waitForEvent(end.get()), "cuEventSynchronize");
      driver.check(driver.getElapsedTime(&taken, begin.get(), end.get()), "cuEventElapsedTime");
      if (round > 0)
        best = best == 0 ? taken : std::min(best, taken);
    }
    return std::max(best, Milliseconds(1e-6));
  }

private:
  const Driver &driver;
  Stream const stream;
  const OwnedEvent begin, end;
};

/// Numbers around 1, in all types: of zeros a GPU needs less power, and is faster. Returns when they are there.
void fillWithNumbers(const Driver &driver, Address begin, uint64_t bytes, Stream stream);

} // namespace xlc::runtime::cuda

#endif
