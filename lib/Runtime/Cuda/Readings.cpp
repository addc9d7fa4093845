// See Readings.h.
#include "Readings.h"

namespace xlc::runtime::cuda {

Readings::Readings(const Driver &driver, Stream stream)
    : driver(driver), stream(stream), memory(allocatePinned(driver, sizeof(float) * Device::readingSlots)),
      numbers((float *)memory.get()) {
  for (OwnedEvent &event : events)
    event = makeEvent(driver);
}

void Readings::begin(unsigned slot, Address from) {
  driver.check(driver.copyToHost(numbers + slot, from, sizeof(float), stream), "cuMemcpyDtoHAsync");
  driver.check(driver.record(events[slot].get(), stream), "cuEventRecord");
}

float Readings::finish(unsigned slot) {
  driver.check(driver.waitForEvent(events[slot].get()), "cuEventSynchronize");
  return numbers[slot];
}

} // namespace xlc::runtime::cuda
