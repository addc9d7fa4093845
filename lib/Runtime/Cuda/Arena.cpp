// See Arena.h.
#include "Arena.h"

#include <algorithm>
#include <new>

namespace xlc::runtime::cuda {

Arena::Arena(const Driver &driver, Ordinal device, uint64_t wanted) : driver(driver) {
  AllocationProperties properties;
  properties.location.device = device;
  size_t granularity;
  driver.check(driver.getGranularity(&granularity, &properties, recommendedGranularity),
               "cuMemGetAllocationGranularity");
  bytes = (std::max<uint64_t>(wanted, 1) + granularity - 1) / granularity * granularity;
  driver.check(driver.reserve(&address, bytes, 0, 0, 0), "cuMemAddressReserve");
  try {
    Status status = driver.create(&allocation, bytes, &properties, 0);
    if (status == outOfMemory)
      throw std::bad_alloc();
    driver.check(status, "cuMemCreate");
    isCreated = true;
    driver.check(driver.map(address, bytes, 0, allocation, 0), "cuMemMap");
    isMapped = true;
    AccessDescription access{properties.location};
    driver.check(driver.setAccess(address, bytes, &access, 1), "cuMemSetAccess");
  } catch (...) {
    free();
    throw;
  }
}

Arena::~Arena() { free(); }

void Arena::free() {
  if (isMapped)
    driver.unmap(address, bytes);
  if (isCreated)
    driver.release(allocation);
  driver.unreserve(address, bytes);
}

} // namespace xlc::runtime::cuda
