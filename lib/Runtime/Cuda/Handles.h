// Owners of the driver's objects, which release them on destruction.
#ifndef XLC_LIB_RUNTIME_CUDA_HANDLES_H
#define XLC_LIB_RUNTIME_CUDA_HANDLES_H

#include "Driver.h"

#include <memory>

namespace xlc::runtime::cuda {

/// Releases a handle by a function of the driver, whose status is ignored.
template <auto Function> struct GiveBack {
  const Driver *driver = nullptr;
  template <class Handle> void operator()(Handle handle) const { (driver->*Function)(handle); }
};

using OwnedStream = std::unique_ptr<CUstream_st, GiveBack<&Driver::destroyStream>>;
using OwnedEvent = std::unique_ptr<CUevent_st, GiveBack<&Driver::destroyEvent>>;
using OwnedLibrary = std::unique_ptr<CUlib_st, GiveBack<&Driver::unload>>;
using OwnedGraph = std::unique_ptr<CUgraph_st, GiveBack<&Driver::destroyGraph>>;
using OwnedLaunchable = std::unique_ptr<CUgraphExec_st, GiveBack<&Driver::destroyLaunchable>>;
/// Pinned host memory.
using Pinned = std::unique_ptr<void, GiveBack<&Driver::freeHost>>;

inline OwnedStream makeStream(const Driver &driver, int priority = 0) {
  Stream made;
  driver.check(driver.createStream(&made, nonBlocking, priority), "cuStreamCreateWithPriority");
  return OwnedStream(made, {&driver});
}

inline OwnedEvent makeEvent(const Driver &driver, unsigned flags = withoutTiming) {
  Event made;
  driver.check(driver.createEvent(&made, flags), "cuEventCreate");
  return OwnedEvent(made, {&driver});
}

/// Whether the stream has reached the last record of the event.
inline bool isOver(const Driver &driver, const OwnedEvent &event) {
  Status status = driver.queryEvent(event.get());
  if (status != notReady)
    driver.check(status, "cuEventQuery");
  return status != notReady;
}

inline Pinned allocatePinned(const Driver &driver, uint64_t bytes) {
  void *made;
  driver.check(driver.allocateHost(&made, bytes, 0), "cuMemHostAlloc");
  return Pinned(made, {&driver});
}

/// The context of a device, current on the thread that creates this object.
class OwnedContext {
public:
  OwnedContext(const Driver &driver, Ordinal device) : driver(driver), device(device) {
    driver.check(driver.retainContext(&context, device), "cuDevicePrimaryCtxRetain");
    if (Status status = driver.setContext(context); status != success) {
      driver.releaseContext(device);
      driver.check(status, "cuCtxSetCurrent");
    }
  }
  ~OwnedContext() {
    driver.releaseContext(device);
    entered = nullptr;
  }
  OwnedContext(const OwnedContext &) = delete;

  Context get() const { return context; }
  /// Call on a thread that has not used the context yet.
  void enter() const {
    if (entered != context)
      driver.check(driver.setContext(context), "cuCtxSetCurrent");
    entered = context;
  }

private:
  const Driver &driver;
  const Ordinal device;
  Context context = nullptr;
  static inline thread_local Context entered = nullptr; ///< the context that this thread has entered
};

} // namespace xlc::runtime::cuda

#endif
