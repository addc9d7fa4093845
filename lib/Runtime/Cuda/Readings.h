// Asynchronous reads of numbers from the device into pinned memory: the host requests them and continues.
#ifndef XLC_LIB_RUNTIME_CUDA_READINGS_H
#define XLC_LIB_RUNTIME_CUDA_READINGS_H

#include "Device/Device.h"
#include "Handles.h"

#include <array>

namespace xlc::runtime::cuda {

class Readings {
public:
  Readings(const Driver &driver, Stream stream);
  Readings(const Readings &) = delete;

  void begin(unsigned slot, Address from);
  bool isOver(unsigned slot) const { return cuda::isOver(driver, events[slot]); }
  /// Waits only if the device has not reached the read.
  float finish(unsigned slot);

private:
  const Driver &driver;
  const Stream stream;
  const Pinned memory;
  char *const numbers;
  std::array<OwnedEvent, Device::readingSlots> events;
};

} // namespace xlc::runtime::cuda

#endif
