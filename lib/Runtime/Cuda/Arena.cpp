// See Arena.h.
#include "Arena.h"

#include <algorithm>
#include <new>

namespace xlc::runtime::cuda {

static AllocationProperties propertiesOf(const Driver &driver, Ordinal device, Sharing sharing) {
  AllocationProperties properties;
  properties.location.device = device;
  if (sharing == Sharing::Private)
    return properties;
  auto has = [&](int attribute) {
    int value = 0;
    Status status = driver.getAttribute(&value, attribute, device);
    if (status == invalidValue) // the driver is older than the attribute
      return false;
    driver.check(status, "cuDeviceGetAttribute");
    return value != 0;
  };
  properties.handleTypes = fileHandle | (has(hasFabricHandles) ? fabricHandle : 0);
  properties.networkReads = has(networkReadsMemory);
  return properties;
}

Arena::Arena(const Driver &driver, Ordinal device, uint64_t wanted, Sharing sharing) : driver(driver) {
  AllocationProperties properties = propertiesOf(driver, device, sharing);
  size_t granularity;
  driver.check(driver.getGranularity(&granularity, &properties, recommendedGranularity),
               "cuMemGetAllocationGranularity");
  bytes = (std::max<uint64_t>(wanted, 1) + granularity - 1) / granularity * granularity;
  driver.check(driver.reserve(&address, bytes, granularity, 0, 0), "cuMemAddressReserve");
  try {
    Status status = create(properties);
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

/// A GPU has handles of a fabric, and a process that no fabric's service knows may not have them: drivers say so in several ways.
Status Arena::create(AllocationProperties properties) {
  Status status = driver.create(&allocation, bytes, &properties, 0);
  if (status == success || !(properties.handleTypes & fabricHandle))
    return status;
  properties.handleTypes = fileHandle;
  return driver.create(&allocation, bytes, &properties, 0);
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
