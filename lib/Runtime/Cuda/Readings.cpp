// See Readings.h.
#include "Readings.h"

#include <cstring>

namespace xlc::runtime::cuda {

Readings::Readings(const Driver &driver, Stream stream)
    : driver(driver), stream(stream), memory(allocatePinned(driver, sizeof(float) * Device::readingSlots)),
      numbers((char *)memory.get()) {
  for (OwnedEvent &event : events)
    event = makeEvent(driver);
}

void Readings::begin(unsigned slot, Address from) {
  driver.check(driver.copyToHost(numbers + slot * sizeof(float), from, sizeof(float), stream), "cuMemcpyDtoHAsync");
  driver.check(driver.record(events[slot].get(), stream), "cuEventRecord");
}

float Readings::finish(unsigned slot) {
  driver.check(driver.waitForEvent(events[slot].get()), "cuEventSynchronize");
  float number;
  std::memcpy(&number, numbers + slot * sizeof number, sizeof number);
  return number;
}

} // namespace xlc::runtime::cuda
