// Moments on the streams of a device, for --profile: events that are used again once they have been asked.
#ifndef XLC_LIB_RUNTIME_CUDA_MARKS_H
#define XLC_LIB_RUNTIME_CUDA_MARKS_H

#include "Handles.h"

#include <cstdint>
#include <vector>

namespace xlc::runtime::cuda {

class Marks {
public:
  explicit Marks(const Driver &driver) : driver(driver) {}

  /// When the stream has come to what it was asked for last. The first one waits for the device, to find its clock.
  int64_t add(Stream stream);
  /// Whether the device has come there.
  bool isOver(int64_t mark) const { return cuda::isOver(driver, events[mark]); }
  /// In nanoseconds of the host's clock, to about ten microseconds; waits for it. Of each mark once.
  int64_t timeOf(int64_t mark);

private:
  int64_t record(Stream stream);

  const Driver &driver;
  std::vector<OwnedEvent> events; ///< by mark
  std::vector<int64_t> free;      ///< marks that may be used again
  int64_t origin = -1;            ///< the mark from which times are counted
  int64_t timeOfOrigin = 0;
};

} // namespace xlc::runtime::cuda

#endif
