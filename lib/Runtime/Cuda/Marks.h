// Timestamps on the streams of a device, for --profile: events that are reused once their times have been read.
#ifndef XLC_LIB_RUNTIME_CUDA_MARKS_H
#define XLC_LIB_RUNTIME_CUDA_MARKS_H

#include "Handles.h"

#include <cstdint>
#include <vector>

namespace xlc::runtime::cuda {

class Marks {
public:
  explicit Marks(const Driver &driver) : driver(driver) {}

  /// Marks the point when the stream reaches the end of its requests so far. The first call waits for the device, to
  /// determine its clock.
  int64_t add(Stream stream);
  /// Whether the device has reached the mark.
  bool isOver(int64_t mark) const { return cuda::isOver(driver, events[mark]); }
  /// The time in nanoseconds of the host's clock, accurate to about ten microseconds; waits for it. Call once for each
  /// mark.
  int64_t timeOf(int64_t mark);

private:
  int64_t record(Stream stream);

  const Driver &driver;
  std::vector<OwnedEvent> events; ///< by mark
  std::vector<int64_t> free;      ///< marks that may be reused
  int64_t origin = -1;            ///< the mark from which times are counted
  int64_t timeOfOrigin = 0;
};

} // namespace xlc::runtime::cuda

#endif
