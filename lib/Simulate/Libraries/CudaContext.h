// The state that the functions of the simulated libcuda.so.1 share, and the common prologue of these functions.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_CUDACONTEXT_H
#define XLC_LIB_SIMULATE_LIBRARIES_CUDACONTEXT_H

#include "Capture.h"
#include "Image.h"
#include "State.h"

#include <map>
#include <set>
#include <unistd.h>

namespace xlc::simulate {

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
  invalidHandle = 400,
  notFound = 500,
  notReady = 600,
  notPermitted = 800,
  captureUnsupported = 900,
  captureInvalidated = 901,
  captureMerge = 902,
  captureUnmatched = 903,
  captureUnjoined = 904,
  captureIsolation = 905,
  captureImplicit = 906,
  capturedEvent = 907,
  captureWrongThread = 908,
  unknown = 999,
};

/// The contents of the context, which are destroyed when the program releases it.
struct Context {
  int users = 0;
  uint64_t allocated = 0;
  struct Allocation {
    uint64_t bytes;
    bool isShared; ///< others can map it
  };
  std::map<uint64_t, Allocation> allocations; ///< by handle
  std::map<void *, uint64_t> hostMemory;      ///< bytes by address
  std::map<void *, std::shared_ptr<Event>> events;
  std::set<Image *> images;
  std::map<void *, std::unique_ptr<Graph>> graphs, executables;
  uint64_t lastHandle = 0;
};

/// By device. A Context * is an address here.
inline std::array<Context, kMostDevices> contexts;
inline pid_t initializedIn = 0; ///< a process that is forked from this one is not initialized

/// A call of a function that works in the context. The lock is held while it runs.
struct Call {
  /// Null: not a function, and not counted.
  explicit Call(const char *function, bool needsContext = true, int device = std::max(0, currentDevice))
      : context(contexts[(size_t)device]),
        status(function && isToFail(function)                          ? unknown
               : initializedIn != getpid()                             ? notInitialized
               : needsContext && (currentDevice < 0 || !context.users) ? invalidContext
                                                                       : success),
        lock(Machine::get().mutex), state(State::of(device)) {}
  bool isGood() const { return status == success; }
  /// Whether a function that is not allowed in a capture may be called now; if not, the captures of this thread are
  /// invalidated.
  bool isOutsideOfCaptures() {
    if (isGood() && state.endCaptures())
      status = captureUnsupported;
    return isGood();
  }
  /// The stream's queue, for more work; null if it accepts none now. The legacy stream would wait for captured streams.
  Queue *findQueue(Queue *stream) {
    if (isGood() && !stream && state.endCaptures())
      status = captureImplicit;
    Queue *queue = isGood() ? &state.findQueue(stream) : nullptr;
    if (queue && queue->capture && !queue->capture->isValid)
      status = captureInvalidated;
    return isGood() ? queue : nullptr;
  }
  Context &context;
  Status status;
  std::unique_lock<std::mutex> lock;
  State &state;
};

} // namespace xlc::simulate

#define CUDA_FUNCTION extern "C" XLC_SIMULATED Status

#endif
