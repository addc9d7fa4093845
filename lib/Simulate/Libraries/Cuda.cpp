// libcuda.so.1 of the simulated device: the functions that the runtime uses, by their real names, and refusing what the real
// ones refuse. One device of compute capability 8.0; XLC_SIMULATE_MEMORY=BYTES says how large it is (default 8 GiB).
#include "Image.h"
#include "State.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <sys/mman.h>

using namespace xlc::simulate;

namespace {

using Status = int;
enum : Status {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialized = 3,
  noDevice = 100,
  invalidDevice = 101,
  invalidImage = 200,
  invalidContext = 201,
  noBinary = 209,
  notFound = 500,
  notReady = 600,
  unknown = 999,
};

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
    {unknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

constexpr uint64_t granularity = 2 << 20;
constexpr int capability[] = {8, 0}, driverVersion = 12000;

/// What lives in the context: all of it is gone when the program gives that back.
struct Context {
  int users = 0;
  uint64_t allocated = 0;
  std::map<uint64_t, uint64_t> allocations; ///< bytes by handle
  std::map<void *, uint64_t> hostMemory;    ///< bytes by address
  std::map<void *, std::shared_ptr<Event>> events;
  std::set<Image *> images;
  uint64_t lastHandle = 0;
};

bool isInitialized = false;
Context context;
thread_local bool isCurrent = false;

uint64_t memoryOfDevice() {
  const char *text = getenv("XLC_SIMULATE_MEMORY");
  return text ? std::strtoull(text, nullptr, 10) : (uint64_t)8 << 30;
}

uint64_t devices() {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  return visible && (!*visible || *visible == '-') ? 0 : 1;
}

/// Of a function that works in the context. The lock is held while it runs.
struct Call {
  explicit Call(const char *function, bool needsContext = true)
      : status(isToFail(function)                               ? unknown
               : !isInitialized                                 ? notInitialized
               : needsContext && (!isCurrent || !context.users) ? invalidContext
                                                                : success),
        state(State::get()), lock(state.mutex) {}
  bool isGood() const { return status == success; }
  Status status;
  State &state;
  std::unique_lock<std::mutex> lock;
};

std::string sized(const char *function, uint64_t bytes) {
  return std::string(function) + " of " + std::to_string(bytes) + " bytes";
}

/// Bytes of the host: pinned ones are read when the queue comes to the copy, others when it is asked for.
bool isPinned(const void *begin, uint64_t bytes) {
  return std::any_of(context.hostMemory.begin(), context.hostMemory.end(), [&](const auto &entry) {
    return begin >= entry.first && (const char *)begin + bytes <= (const char *)entry.first + entry.second;
  });
}

void checkNothingIsLeft(State &state) {
  auto check = [](size_t count, const char *what) {
    if (count > 0)
      endWith("the context is given up with " + std::to_string(count) + " " + what);
  };
  check(state.queues.size() - 1, "streams");
  check(context.events.size(), "events");
  check(context.allocations.size(), "allocations");
  check(context.hostMemory.size(), "pieces of pinned memory");
  check(context.images.size(), "libraries of kernels");
  check(state.regions.size(), "ranges of addresses");
}

Region *regionAt(State &state, uint64_t address) {
  for (Region &region : state.regions)
    if ((uint64_t)(uintptr_t)region.begin == address)
      return &region;
  return nullptr;
}

} // namespace

#define CUDA_FUNCTION extern "C" XLC_SIMULATED Status

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
  if (devices() == 0)
    return noDevice;
  isInitialized = true;
  return flags == 0 ? success : invalidValue;
}
CUDA_FUNCTION cuDriverGetVersion(int *version) {
  const char *other = getenv("XLC_SIMULATE_DRIVER");
  *version = other ? std::atoi(other) : driverVersion;
  return isToFail("cuDriverGetVersion") ? unknown : success;
}
CUDA_FUNCTION cuDeviceGetCount(int *count) {
  Call call("cuDeviceGetCount", false);
  *count = (int)devices();
  return call.status;
}
CUDA_FUNCTION cuDeviceGet(int *device, int number) {
  Call call("cuDeviceGet", false);
  *device = number;
  return call.isGood() && number != 0 ? invalidDevice : call.status;
}
CUDA_FUNCTION cuDeviceGetName(char *name, int length, int device) {
  Call call("cuDeviceGetName", false);
  if (call.isGood() && device != 0)
    return invalidDevice;
  strncpy(name, "simulated device", (size_t)length);
  return call.status;
}
CUDA_FUNCTION cuDeviceGetAttribute(int *value, int attribute, int device) {
  Call call("cuDeviceGetAttribute", false);
  if (call.isGood() && device != 0)
    return invalidDevice;
  constexpr int major = 75, minor = 76;
  if (attribute != major && attribute != minor)
    return invalidValue;
  *value = capability[attribute - major];
  return call.status;
}
CUDA_FUNCTION cuDevicePrimaryCtxRetain(Context **made, int device) {
  Call call("cuDevicePrimaryCtxRetain", false);
  if (!call.isGood() || device != 0)
    return call.isGood() ? invalidDevice : call.status;
  ++context.users;
  *made = &context;
  return success;
}
CUDA_FUNCTION cuDevicePrimaryCtxRelease_v2(int device) {
  Call call("cuDevicePrimaryCtxRelease", false);
  if (device != 0 || context.users == 0)
    return invalidContext;
  if (--context.users == 0)
    checkNothingIsLeft(call.state);
  return success; // what fails on purpose has an effect all the same: nobody can try again
}
CUDA_FUNCTION cuCtxSetCurrent(Context *given) {
  Call call("cuCtxSetCurrent", false);
  if (call.isGood())
    isCurrent = given == &context;
  return call.status;
}
CUDA_FUNCTION cuMemGetInfo_v2(size_t *free, size_t *total) {
  Call call("cuMemGetInfo");
  *total = memoryOfDevice();
  *free = *total - context.allocated;
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
  call.state.regions.push_back({(char *)begin, bytes, false, {}});
  *address = (uint64_t)(uintptr_t)begin;
  return success;
}
CUDA_FUNCTION cuMemAddressFree(uint64_t address, size_t bytes) {
  Call call("cuMemAddressFree");
  Region *region = regionAt(call.state, address);
  if (!region || region->isMapped || region->bytes != bytes)
    return invalidValue;
  munmap(region->begin, bytes);
  call.state.regions.remove_if([&](const Region &each) { return &each == region; });
  return success;
}
CUDA_FUNCTION cuMemCreate(uint64_t *handle, size_t bytes, const void *, unsigned long long) {
  Call call("cuMemCreate");
  if (!call.isGood() || bytes == 0 || bytes % granularity != 0)
    return call.isGood() ? invalidValue : call.status;
  if (context.allocated + bytes > memoryOfDevice())
    return outOfMemory;
  context.allocated += bytes;
  context.allocations[ *handle = ++context.lastHandle] = bytes;
  return success;
}
CUDA_FUNCTION cuMemRelease(uint64_t handle) {
  Call call("cuMemRelease");
  auto found = context.allocations.find(handle);
  if (found == context.allocations.end())
    return invalidValue;
  context.allocated -= found->second;
  context.allocations.erase(found);
  return success;
}
CUDA_FUNCTION cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle, unsigned long long) {
  Call call("cuMemMap");
  Region *region = regionAt(call.state, address);
  auto found = context.allocations.find(handle);
  bool fits = region && !region->isMapped && region->bytes == bytes && offset == 0 &&
              found != context.allocations.end() && found->second == bytes;
  if (call.isGood() && fits)
    State::map(*region);
  return call.isGood() && !fits ? invalidValue : call.status;
}
CUDA_FUNCTION cuMemUnmap(uint64_t address, size_t bytes) {
  Call call("cuMemUnmap");
  Region *region = regionAt(call.state, address);
  if (!region || !region->isMapped || region->bytes != bytes)
    return invalidValue;
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
  if (!call.isGood())
    return call.status;
  *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*memory)
    return outOfMemory;
  context.hostMemory[*memory] = bytes;
  return success;
}
CUDA_FUNCTION cuMemFreeHost(void *memory) {
  Call call("cuMemFreeHost");
  if (context.hostMemory.erase(memory) == 0)
    return invalidValue;
  free(memory);
  return success;
}

// Copies ---------------------------------------------------------------------------------------------------------------

CUDA_FUNCTION cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, Queue *stream) {
  Call call("cuMemcpyHtoDAsync");
  if (!call.isGood())
    return call.status;
  auto *target = (char *)(uintptr_t)to;
  Work work{sized("cuMemcpyHtoDAsync", bytes), {}, {{target, bytes}}, nullptr};
  if (isPinned(from, bytes))
    work.run = [=] { std::memcpy(target, from, bytes); };
  else
    work.run = [target, copy = std::string((const char *)from, bytes)] {
      std::memcpy(target, copy.data(), copy.size());
    };
  call.state.append(call.state.findQueue(stream), {Item::Runs, std::move(work), nullptr, 0, {}});
  return success;
}
CUDA_FUNCTION cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, Queue *stream) {
  Call call("cuMemcpyDtoHAsync");
  if (!call.isGood())
    return call.status;
  auto *source = (const char *)(uintptr_t)from;
  Queue &queue = call.state.findQueue(stream);
  Work work{sized("cuMemcpyDtoHAsync", bytes), {{source, bytes}}, {}, [=] { std::memcpy(to, source, bytes); }};
  call.state.append(queue, {Item::Runs, std::move(work), nullptr, 0, {}});
  if (!isPinned(to, bytes)) // such a copy is over when the call returns
    call.state.waitFor(queue);
  return success;
}
CUDA_FUNCTION cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, Queue *stream) {
  Call call("cuMemcpyDtoDAsync");
  if (!call.isGood())
    return call.status;
  auto *source = (const char *)(uintptr_t)from;
  auto *target = (char *)(uintptr_t)to;
  Work work{sized("cuMemcpyDtoDAsync", bytes), {{source, bytes}}, {{target, bytes}}, [=] {
              std::memmove(target, source, bytes);
            }};
  call.state.append(call.state.findQueue(stream), {Item::Runs, std::move(work), nullptr, 0, {}});
  return success;
}
CUDA_FUNCTION cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, Queue *stream) {
  Call call("cuMemsetD8Async");
  if (!call.isGood())
    return call.status;
  auto *target = (char *)(uintptr_t)to;
  Work work{sized("cuMemsetD8Async", bytes), {}, {{target, bytes}}, [=] { std::memset(target, value, bytes); }};
  call.state.append(call.state.findQueue(stream), {Item::Runs, std::move(work), nullptr, 0, {}});
  return success;
}

// Streams and events ---------------------------------------------------------------------------------------------------

CUDA_FUNCTION cuStreamCreateWithPriority(Queue **stream, unsigned, int) {
  Call call("cuStreamCreateWithPriority");
  if (call.isGood())
    *stream = &call.state.addQueue();
  return call.status;
}
CUDA_FUNCTION cuStreamDestroy_v2(Queue *stream) {
  Call call("cuStreamDestroy");
  call.state.waitFor(call.state.findQueue(stream));
  std::erase_if(call.state.queues, [&](const auto &each) { return each.get() == stream; });
  return success;
}
CUDA_FUNCTION cuStreamSynchronize(Queue *stream) {
  Call call("cuStreamSynchronize");
  if (!call.isGood())
    return call.status;
  call.state.waitFor(call.state.findQueue(stream));
  return success;
}
CUDA_FUNCTION cuEventCreate(Event **event, unsigned) {
  Call call("cuEventCreate");
  if (!call.isGood())
    return call.status;
  auto made = std::make_shared<Event>();
  context.events[ *event = made.get()] = made;
  return success;
}
CUDA_FUNCTION cuEventDestroy_v2(Event *event) {
  Call call("cuEventDestroy");
  return context.events.erase(event) == 1 ? success : invalidValue;
}
CUDA_FUNCTION cuEventRecord(Event *event, Queue *stream) {
  Call call("cuEventRecord");
  auto found = context.events.find(event);
  if (!call.isGood() || found == context.events.end())
    return call.isGood() ? invalidValue : call.status;
  uint64_t number = ++event->asked;
  call.state.append(call.state.findQueue(stream), {Item::Records, {}, found->second, number, {}});
  return success;
}
CUDA_FUNCTION cuStreamWaitEvent(Queue *stream, Event *event, unsigned) {
  Call call("cuStreamWaitEvent");
  auto found = context.events.find(event);
  if (!call.isGood() || found == context.events.end())
    return call.isGood() ? invalidValue : call.status;
  call.state.append(call.state.findQueue(stream), {Item::Waits, {}, found->second, event->asked, {}});
  return success;
}
CUDA_FUNCTION cuEventQuery(Event *event) {
  Call call("cuEventQuery");
  if (!call.isGood() || !context.events.count(event))
    return call.isGood() ? invalidValue : call.status;
  if (event->recorded < event->asked)
    return notReady;
  call.state.host.join(event->clock);
  return success;
}
CUDA_FUNCTION cuEventSynchronize(Event *event) {
  Call call("cuEventSynchronize");
  if (!call.isGood() || !context.events.count(event))
    return call.isGood() ? invalidValue : call.status;
  call.state.runUntil(*event, event->asked);
  call.state.host.join(event->clock);
  return success;
}

// Kernels --------------------------------------------------------------------------------------------------------------

CUDA_FUNCTION cuLibraryLoadData(Image **library, const void *code, void *, void **, unsigned, void *, void **,
                                unsigned) {
  Call call("cuLibraryLoadData");
  if (!call.isGood())
    return call.status;
  constexpr char elf[] = "\x7f"
                         "ELF";
  if (std::memcmp(code, elf, 4) == 0)
    return noBinary; // cubins are of real chips
  if (!std::strstr((const char *)code, ".target sm_80"))
    return invalidImage;
  context.images.insert(*library = new Image((const char *)code));
  return success;
}
CUDA_FUNCTION cuLibraryUnload(Image *library) {
  Call call("cuLibraryUnload");
  if (context.images.erase(library) == 0)
    return invalidValue;
  for (const auto &queue : call.state.queues)
    call.state.waitFor(*queue);
  delete library;
  return success;
}
CUDA_FUNCTION cuLibraryGetKernel(SimulatedKernel **kernel, Image *library, const char *name) {
  Call call("cuLibraryGetKernel");
  if (!call.isGood() || !context.images.count(library))
    return call.isGood() ? invalidValue : call.status;
  *kernel = library->find(name);
  return *kernel ? success : notFound;
}
CUDA_FUNCTION cuLaunchKernel(SimulatedKernel *kernel, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                             unsigned blockY, unsigned blockZ, unsigned sharedBytes, Queue *stream, void **parameters,
                             void **extra) {
  Call call("cuLaunchKernel");
  if (!call.isGood())
    return call.status;
  bool isRow = gridX >= 1 && blockX >= 1 && gridY == 1 && gridZ == 1 && blockY == 1 && blockZ == 1 && sharedBytes == 0;
  if (!isRow || extra || blockX > 1024 || (kernel->threads && kernel->threads != blockX))
    return invalidValue;
  std::vector<std::string> values; // the call may return before the kernel runs
  for (size_t i = 0; i < kernel->parameters.size(); ++i)
    values.emplace_back((const char *)parameters[i], kernel->parameters[i]);
  State &state = call.state;
  uint64_t seed = state.random();
  auto run = [=, &state, values = std::move(values)]() mutable {
    Launch launch{kernel->code, gridX, blockX, {}, {}, seed};
    for (std::string &value : values)
      launch.parameters.push_back(value.data());
    for (const Region &region : state.regions)
      if (region.isMapped)
        launch.memory.push_back({region.begin, region.bytes});
    launch.observe = [&](const char *at, uint64_t bytes, bool writes) { return state.access(at, bytes, writes); };
    if (std::string problem = xlc::simulate::run(launch); !problem.empty())
      endWith("'" + kernel->name + "': " + problem);
  };
  state.append(state.findQueue(stream), {Item::Runs, {kernel->name, {}, {}, std::move(run)}, nullptr, 0, {}});
  return success;
}
