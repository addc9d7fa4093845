// libcuda.so.1 of the simulated device: the machine and its memory, under the real names, with the errors of the real
// functions. Devices have compute capability 8.0.
//
//     XLC_SIMULATE_DEVICES      how many (1)
//     XLC_SIMULATE_MEMORY       bytes of each (8 GiB)
//     XLC_SIMULATE_CAPABILITY   75: of another chip
//     XLC_SIMULATE_DRIVER       11080: another version of the driver
//
// Drivers since 12.3 report that devices have fabric handles, which this process is not permitted to use, as on a
// machine without the service that creates them.
#include "CudaContext.h"

#include "Cuda/Driver.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

using namespace xlc::simulate;
namespace cuda = xlc::runtime::cuda;

namespace {

struct ErrorName {
  Status status;
  const char *name, *text;
};
constexpr ErrorName errorNames[] = {
    {success, "CUDA_SUCCESS", "no error"},
    {invalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {outOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {notInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {noDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {invalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {invalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {invalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {noBinary, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {notFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {notReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {notPermitted, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {captureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {captureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {captureMerge, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {captureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
    {captureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {captureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {captureImplicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {capturedEvent, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {captureWrongThread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {unknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

constexpr uint64_t granularity = 2 << 20;

/// From the environment, or what a device usually has.
int64_t settingOf(const char *name, int64_t usual) {
  const char *text = getenv(name);
  return text ? std::strtoll(text, nullptr, 10) : usual;
}

uint64_t memoryOfDevice() { return (uint64_t)settingOf("XLC_SIMULATE_MEMORY", (int64_t)8 << 30); }

int driverVersion() { return (int)settingOf("XLC_SIMULATE_DRIVER", 12000); }

int countDevices() {
  auto all = (int)settingOf("XLC_SIMULATE_DEVICES", 1);
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (!visible)
    return all;
  std::string list = visible;
  return list.empty() || list[0] == '-' ? 0 : std::min(all, 1 + (int)std::count(list.begin(), list.end(), ','));
}

bool isDevice(int number) { return number >= 0 && number < countDevices(); }

void checkNothingIsLeft(const Context &context, const State &state) {
  auto check = [](size_t count, const std::string &what) {
    if (count > 0)
      endWith("the context is destroyed with " + std::to_string(count) + " " + what);
  };
  check(state.queues.size() - 1 - state.ofGraphs.size(), "streams");
  check(context.events.size(), "events");
  check(context.allocations.size(), "allocations");
  check(context.hostMemory.size(), "pieces of pinned memory");
  check(context.images.size(), "libraries of kernels");
  check(context.graphs.size() + context.executables.size(), "graphs");
  check(state.memory.regions.size(), "ranges of addresses");
  for (const auto &[what, count] : state.held)
    check(count, what);
}

Region *regionAt(State &state, uint64_t address) {
  for (Region &region : state.memory.regions)
    if ((uint64_t)(uintptr_t)region.begin == address)
      return &region;
  return nullptr;
}

} // namespace

CUDA_FUNCTION cuGetErrorName(Status status, const char **name) {
  for (const ErrorName &row : errorNames)
    if (row.status == status)
      return *name = row.name, success;
  return *name = nullptr, invalidValue;
}
CUDA_FUNCTION cuGetErrorString(Status status, const char **text) {
  for (const ErrorName &row : errorNames)
    if (row.status == status)
      return *text = row.text, success;
  return *text = nullptr, invalidValue;
}

// The machine ----------------------------------------------------------------------------------------------------------

CUDA_FUNCTION cuInit(unsigned flags) {
  if (isToFail("cuInit"))
    return unknown;
  if (countDevices() == 0)
    return noDevice;
  initializedIn = getpid();
  return flags == 0 ? success : invalidValue;
}
CUDA_FUNCTION cuDriverGetVersion(int *version) {
  *version = driverVersion();
  return isToFail("cuDriverGetVersion") ? unknown : success;
}
CUDA_FUNCTION cuDeviceGetCount(int *count) {
  Call call("cuDeviceGetCount", false);
  *count = countDevices();
  return call.status;
}
CUDA_FUNCTION cuDeviceGet(int *device, int number) {
  Call call("cuDeviceGet", false);
  *device = number;
  return call.isGood() && !isDevice(number) ? invalidDevice : call.status;
}
CUDA_FUNCTION cuDeviceGetName(char *name, int length, int device) {
  Call call("cuDeviceGetName", false);
  if (call.isGood() && !isDevice(device))
    return invalidDevice;
  strncpy(name, "simulated device", (size_t)length);
  return call.status;
}
CUDA_FUNCTION cuDeviceGetUuid_v2(unsigned char *bytes, int device) {
  Call call("cuDeviceGetUuid", false);
  if (call.isGood() && !isDevice(device))
    return invalidDevice;
  std::array<char, 64> host{}; // a process has machines of its own; those of one host are alike
  gethostname(host.data(), host.size() - 1);
  uint64_t numbers[] = {(uint64_t)device, std::hash<std::string_view>()(host.data())};
  std::memcpy(bytes, numbers, sizeof numbers);
  return call.status;
}
CUDA_FUNCTION cuDeviceGetAttribute(int *value, int attribute, int device) {
  Call call("cuDeviceGetAttribute", false);
  if (call.isGood() && !isDevice(device))
    return invalidDevice;
  int capability = (int)settingOf("XLC_SIMULATE_CAPABILITY", 80);
  switch (attribute) {
  case cuda::capabilityMajor:
    return *value = capability / 10, call.status;
  case cuda::capabilityMinor:
    return *value = capability % 10, call.status;
  case cuda::hasFabricHandles:
    return *value = 1, call.isGood() && driverVersion() < 12030 ? invalidValue : call.status;
  case cuda::networkReadsMemory:
    return *value = 1, call.status;
  default:
    return invalidValue;
  }
}
CUDA_FUNCTION cuDevicePrimaryCtxRetain(Context **made, int device) {
  if (!isDevice(device))
    return invalidDevice;
  Call call("cuDevicePrimaryCtxRetain", false, device);
  if (!call.isGood())
    return call.status;
  ++call.context.users;
  *made = &call.context;
  return success;
}
CUDA_FUNCTION cuDevicePrimaryCtxRelease_v2(int device) {
  if (!isDevice(device))
    return invalidDevice;
  Call call("cuDevicePrimaryCtxRelease", false, device);
  if (call.context.users == 0)
    return invalidContext;
  if (--call.context.users == 0)
    checkNothingIsLeft(call.context, call.state);
  return success; // what fails on purpose has an effect all the same: nobody can try again
}
CUDA_FUNCTION cuCtxSetCurrent(Context *given) {
  Call call("cuCtxSetCurrent", false);
  currentDevice = given ? (int)(given - contexts.data()) : -1; // also where it fails on purpose: as above
  return call.status;
}
CUDA_FUNCTION cuMemGetInfo_v2(size_t *free, size_t *total) {
  Call call("cuMemGetInfo");
  *total = memoryOfDevice();
  *free = *total - call.context.allocated;
  return call.status;
}

// Memory ---------------------------------------------------------------------------------------------------------------

CUDA_FUNCTION cuMemGetAllocationGranularity(size_t *bytes, const void *, int) {
  Call call("cuMemGetAllocationGranularity");
  *bytes = granularity;
  return call.status;
}
CUDA_FUNCTION cuMemAddressReserve(uint64_t *address, size_t bytes, size_t, uint64_t, unsigned long long) {
  Call call("cuMemAddressReserve");
  if (!call.isGood() || bytes == 0 || bytes % granularity != 0)
    return call.isGood() ? invalidValue : call.status;
  void *begin = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED)
    return outOfMemory;
  call.state.memory.regions.push_back({(char *)begin, bytes, false, {}});
  *address = (uint64_t)(uintptr_t)begin;
  return success;
}
CUDA_FUNCTION cuMemAddressFree(uint64_t address, size_t bytes) {
  Call call("cuMemAddressFree");
  Region *region = regionAt(call.state, address);
  if (!region || region->isMapped || region->bytes != bytes)
    return invalidValue;
  munmap(region->begin, bytes);
  call.state.memory.regions.remove_if([&](const Region &each) { return &each == region; });
  return success;
}
CUDA_FUNCTION cuMemCreate(uint64_t *handle, size_t bytes, const cuda::AllocationProperties *properties,
                          unsigned long long) {
  Call call("cuMemCreate");
  if (!call.isOutsideOfCaptures() || bytes == 0 || bytes % granularity != 0)
    return call.isGood() ? invalidValue : call.status;
  if (properties->handleTypes & cuda::fabricHandle)
    return notPermitted;
  if (call.context.allocated + bytes > memoryOfDevice())
    return outOfMemory;
  ++call.state.machine.counts.allocations;
  call.context.allocated += bytes;
  call.context.allocations[ *handle = ++call.context.lastHandle] = {bytes, properties->handleTypes != 0};
  return success;
}
CUDA_FUNCTION cuMemRelease(uint64_t handle) {
  Call call("cuMemRelease");
  auto found = call.context.allocations.find(handle);
  if (found == call.context.allocations.end())
    return invalidValue;
  call.context.allocated -= found->second.bytes;
  call.context.allocations.erase(found);
  return success;
}
CUDA_FUNCTION cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle, unsigned long long) {
  Call call("cuMemMap");
  Region *region = regionAt(call.state, address);
  auto found = call.context.allocations.find(handle);
  bool fits = region && !region->isMapped && region->bytes == bytes && offset == 0 &&
              found != call.context.allocations.end() && found->second.bytes == bytes;
  if (call.isOutsideOfCaptures() && fits)
    Memory::map(*region), region->isShared = found->second.isShared;
  return call.isGood() && !fits ? invalidValue : call.status;
}
CUDA_FUNCTION cuMemUnmap(uint64_t address, size_t bytes) {
  Call call("cuMemUnmap");
  Region *region = regionAt(call.state, address);
  if (!region || !region->isMapped || region->bytes != bytes)
    return invalidValue;
  if (region->held > 0)
    endWith("memory is unmapped while it is registered");
  mprotect(region->begin, bytes, PROT_NONE);
  region->isMapped = false;
  return success;
}
CUDA_FUNCTION cuMemSetAccess(uint64_t address, size_t, const void *, size_t) {
  Call call("cuMemSetAccess");
  Region *region = regionAt(call.state, address);
  return call.isGood() && (!region || !region->isMapped) ? invalidValue : call.status;
}
CUDA_FUNCTION cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  Call call("cuMemHostAlloc");
  if (!call.isOutsideOfCaptures())
    return call.status;
  *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*memory)
    return outOfMemory;
  ++call.state.machine.counts.allocations;
  call.context.hostMemory[*memory] = bytes;
  return success;
}
CUDA_FUNCTION cuMemFreeHost(void *memory) {
  Call call("cuMemFreeHost");
  if (call.isGood() && !call.isOutsideOfCaptures())
    return call.status;
  if (call.context.hostMemory.erase(memory) == 0)
    return invalidValue;
  free(memory);
  return success;
}
