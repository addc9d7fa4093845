// libcuda.so.1 of the simulated device: functions that enqueue work into streams, under the real names.
#include "CudaContext.h"

#include <cstring>

using namespace xlc::simulate;

namespace {

std::string sized(const char *function, uint64_t bytes) {
  return std::string(function) + " of " + std::to_string(bytes) + " bytes";
}

/// Bytes of the host: pinned ones are read when the queue comes to the copy, others when it is asked for.
bool isPinned(const Context &context, const void *begin, uint64_t bytes) {
  return std::any_of(context.hostMemory.begin(), context.hostMemory.end(), [&](const auto &entry) {
    return begin >= entry.first && (const char *)begin + bytes <= (const char *)entry.first + entry.second;
  });
}

/// A stream that waits for a record of a capture becomes part of it.
Status waitInCapture(const Call &call, Queue &queue, const Event &event) {
  if (!event.capture) {
    queue.capture->isValid = false;
    return captureIsolation;
  }
  if (std::ranges::find(call.state.captures, event.capture) == call.state.captures.end())
    return capturedEvent;
  if (!event.capture->isValid)
    return captureInvalidated;
  if (!queue.capture)
    event.capture->addLane(queue, event.capture);
  if (queue.capture != event.capture) {
    queue.capture->isValid = event.capture->isValid = false;
    return captureMerge;
  }
  queue.capture->wait(queue, event);
  return success;
}

/// Whether the host may ask for an event, of a call that does.
bool isForHost(Call &call, Event *event) {
  if (call.isGood() && !call.context.events.count(event))
    call.status = invalidValue;
  if (!call.isOutsideOfCaptures() || !event->capture)
    return call.isGood();
  event->capture->isValid = false;
  call.status = capturedEvent;
  return false;
}

} // namespace

// Copies ---------------------------------------------------------------------------------------------------------------

CUDA_FUNCTION cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, Queue *stream) {
  Call call("cuMemcpyHtoDAsync");
  Queue *queue = call.findQueue(stream);
  if (!queue)
    return call.status;
  auto *target = (char *)(uintptr_t)to;
  Work work{sized("cuMemcpyHtoDAsync", bytes), {}, {{target, bytes}}, nullptr};
  if (isPinned(call.context, from, bytes))
    work.run = [=] { std::memcpy(target, from, bytes); };
  else if (queue->capture)
    endWith("a graph copies host memory that is not pinned");
  else
    work.run = [target, copy = std::string((const char *)from, bytes)] {
      std::memcpy(target, copy.data(), copy.size());
    };
  call.state.put(*queue, std::move(work));
  return success;
}
CUDA_FUNCTION cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, Queue *stream) {
  Call call("cuMemcpyDtoHAsync");
  Queue *queue = call.findQueue(stream);
  if (!queue)
    return call.status;
  auto *source = (const char *)(uintptr_t)from;
  bool waits = !isPinned(call.context, to, bytes); // such a copy is over when the call returns
  if (waits && queue->capture)
    endWith("a graph copies host memory that is not pinned");
  Work work{sized("cuMemcpyDtoHAsync", bytes), {{source, bytes}}, {}, [=] { std::memcpy(to, source, bytes); }};
  call.state.put(*queue, std::move(work));
  if (waits)
    call.state.waitFor(*queue);
  return success;
}
CUDA_FUNCTION cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, Queue *stream) {
  Call call("cuMemcpyDtoDAsync");
  Queue *queue = call.findQueue(stream);
  if (!queue)
    return call.status;
  auto *source = (const char *)(uintptr_t)from;
  auto *target = (char *)(uintptr_t)to;
  Work work{sized("cuMemcpyDtoDAsync", bytes), {{source, bytes}}, {{target, bytes}}, [=] {
              std::memmove(target, source, bytes);
            }};
  call.state.put(*queue, std::move(work));
  return success;
}
CUDA_FUNCTION cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, Queue *stream) {
  Call call("cuMemsetD8Async");
  Queue *queue = call.findQueue(stream);
  if (!queue)
    return call.status;
  auto *target = (char *)(uintptr_t)to;
  Work work{sized("cuMemsetD8Async", bytes), {}, {{target, bytes}}, [=] { std::memset(target, value, bytes); }};
  call.state.put(*queue, std::move(work));
  return success;
}

// Streams and events ---------------------------------------------------------------------------------------------------

CUDA_FUNCTION cuCtxGetStreamPriorityRange(int *least, int *most) {
  Call call("cuCtxGetStreamPriorityRange");
  *least = 0, *most = -5;
  return call.status;
}
/// Kept for those who ask: queues have other orders.
CUDA_FUNCTION cuStreamCreateWithPriority(Queue **stream, unsigned, int priority) {
  Call call("cuStreamCreateWithPriority");
  if (call.isGood()) {
    *stream = &call.state.addQueue();
    (*stream)->priority = priority;
  }
  return call.status;
}
CUDA_FUNCTION cuStreamGetPriority(Queue *stream, int *priority) {
  Call call("cuStreamGetPriority");
  if (Queue *queue = call.findQueue(stream))
    *priority = queue->priority;
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
  if (!call.isOutsideOfCaptures())
    return call.status;
  call.state.waitFor(call.state.findQueue(stream));
  return success;
}
CUDA_FUNCTION cuEventCreate(Event **event, unsigned flags) {
  Call call("cuEventCreate");
  if (!call.isGood())
    return call.status;
  constexpr unsigned withoutTiming = 2;
  auto made = std::make_shared<Event>();
  made->hasTime = !(flags & withoutTiming);
  call.context.events[ *event = made.get()] = made;
  return success;
}
CUDA_FUNCTION cuEventDestroy_v2(Event *event) {
  Call call("cuEventDestroy");
  return call.context.events.erase(event) == 1 ? success : invalidValue;
}
CUDA_FUNCTION cuEventRecord(Event *event, Queue *stream) {
  Call call("cuEventRecord");
  auto found = call.context.events.find(event);
  Queue *queue = call.findQueue(stream);
  if (!queue || found == call.context.events.end())
    return queue ? invalidValue : call.status;
  event->capture = queue->capture;
  if (queue->capture)
    return queue->capture->record(*queue, *event), success;
  uint64_t number = ++event->asked;
  call.state.append(*queue, {Item::Records, {}, found->second, number, {}});
  return success;
}
CUDA_FUNCTION cuStreamWaitEvent(Queue *stream, Event *event, unsigned) {
  Call call("cuStreamWaitEvent");
  auto found = call.context.events.find(event);
  Queue *queue = call.findQueue(stream);
  if (!queue || found == call.context.events.end())
    return queue ? invalidValue : call.status;
  if (queue->capture || event->capture)
    return waitInCapture(call, *queue, *event);
  call.state.append(*queue, {Item::Waits, {}, found->second, event->asked, {}});
  return success;
}
/// How often it is asked too early depends on time, so that is not counted.
CUDA_FUNCTION cuEventQuery(Event *event) {
  Call call(nullptr);
  if (!isForHost(call, event))
    return call.status;
  if (event->recorded < event->asked) {
    call.state.goOnTowards(*event, event->asked); // time passes
    return notReady;
  }
  if (isToFail("cuEventQuery"))
    return unknown;
  call.state.host.join(event->clock);
  return success;
}
CUDA_FUNCTION cuEventSynchronize(Event *event) {
  Call call("cuEventSynchronize");
  if (!isForHost(call, event))
    return call.status;
  call.state.machine.counts.waits += event->recorded < event->asked;
  call.state.runUntil(*event, event->asked);
  call.state.host.join(event->clock);
  return success;
}

CUDA_FUNCTION cuEventElapsedTime(float *milliseconds, Event *from, Event *to) {
  Call call("cuEventElapsedTime");
  if (!call.isGood())
    return call.status;
  for (Event *event : {from, to})
    if (!call.context.events.count(event) || !event->hasTime || event->asked == 0)
      return invalidHandle;
  for (Event *event : {from, to})
    if (event->recorded < event->asked)
      return notReady;
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
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
  if (std::memcmp(code, elf, 4) == 0) { // of a real chip: refused when it is asked for a kernel, as drivers do
    call.context.images.insert(*library = new Image());
    return success;
  }
  if (!std::strstr((const char *)code, ".target sm_80"))
    return invalidImage;
  call.context.images.insert(*library = new Image((const char *)code));
  return success;
}
CUDA_FUNCTION cuLibraryUnload(Image *library) {
  Call call("cuLibraryUnload");
  if (call.context.images.erase(library) == 0)
    return invalidValue;
  for (const auto &queue : call.state.queues)
    call.state.waitFor(*queue);
  delete library;
  return success;
}
CUDA_FUNCTION cuLibraryGetKernel(SimulatedKernel **kernel, Image *library, const char *name) {
  Call call("cuLibraryGetKernel");
  if (!call.isGood() || !call.context.images.count(library))
    return call.isGood() ? invalidValue : call.status;
  if (!library->isForThisChip())
    return noBinary;
  *kernel = library->find(name);
  return *kernel ? success : notFound;
}
CUDA_FUNCTION cuKernelGetFunction(SimulatedKernel **function, SimulatedKernel *kernel) {
  Call call("cuKernelGetFunction");
  if (!call.isGood())
    return call.status;
  *function = kernel;
  return kernel ? success : invalidValue;
}
CUDA_FUNCTION cuLaunchKernel(SimulatedKernel *kernel, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                             unsigned blockY, unsigned blockZ, unsigned sharedBytes, Queue *stream, void **parameters,
                             void **extra) {
  Call call("cuLaunchKernel");
  Queue *queue = call.findQueue(stream);
  if (!queue)
    return call.status;
  bool isRow = gridX >= 1 && blockX >= 1 && gridY == 1 && gridZ == 1 && blockY == 1 && blockZ == 1 && sharedBytes == 0;
  if (!isRow || extra || blockX > 1024 || (kernel->threads && kernel->threads != blockX))
    return invalidValue;
  std::vector<std::string> values; // the call may return before the kernel runs
  values.reserve(kernel->parameters.size());
  for (size_t i = 0; i < kernel->parameters.size(); ++i)
    values.emplace_back((const char *)parameters[i], kernel->parameters[i]);
  State &state = call.state;
  uint64_t seed = state.machine.random();
  auto run = [=, &state, values = std::move(values)]() mutable {
    Launch launch{kernel->code, gridX, blockX, {}, {}, seed};
    for (std::string &value : values)
      launch.parameters.push_back(value.data());
    for (const Region &region : state.memory.regions)
      if (region.isMapped)
        launch.memory.push_back({region.begin, region.bytes});
    const std::vector<Operand> &constants = kernel->image->constants();
    launch.memory.insert(launch.memory.end(), constants.begin(), constants.end());
    launch.observe = [&](const char *at, uint64_t bytes, bool writes) -> std::string {
      bool isConstant = std::any_of(constants.begin(), constants.end(), [&](const Operand &operand) {
        return at >= operand.begin && at < operand.begin + operand.bytes;
      });
      return !isConstant ? state.access(at, bytes, writes) : writes ? " of a constant" : "";
    };
    if (std::string problem = xlc::simulate::run(launch); !problem.empty())
      endWith("'" + kernel->name + "': " + problem);
  };
  state.put(*queue, Work{kernel->name, {}, {}, std::move(run)});
  return success;
}
