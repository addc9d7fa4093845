// A step of a rank as one graph of the device: captured once, launched repeatedly. Launches differ only in the data
// that the host writes. These have a place of their own in pinned memory, from which the graph copies them:
//
//     capture   write a, write b   the copies are nodes of the graph
//     later     write a, write b   the same, in the same order, into the same places; then the graph is launched
//
// Two such graphs alternate, so that the host can write data of the next step while the device runs the current one.
#ifndef XLC_LIB_RUNTIME_CUDA_STEPGRAPH_H
#define XLC_LIB_RUNTIME_CUDA_STEPGRAPH_H

#include "Handles.h"

#include <vector>

namespace xlc::runtime::cuda {

class StepGraph {
public:
  /// `bytes`: the limit of the bytes written in a step, each piece in its stored size.
  StepGraph(const Driver &driver, uint64_t bytes);
  /// Cancels a capture that has not ended.
  ~StepGraph() { cancel(); }
  StepGraph(const StepGraph &) = delete;

  /// Starts to capture all requests to this stream, and to those that wait for it.
  void beginCapture(Stream first);
  /// Requires that all streams have joined the first. Throws DeviceFailure if the capture is not a graph.
  void endCapture();
  void cancel() noexcept;
  bool isCapturing() const { return origin != nullptr; }

  /// Writes data of the host, in a capture and then before each launch. Consecutive writes are one copy.
  void write(Address to, const void *from, uint64_t bytes);
  /// During a capture: enqueues the copy of the last writes on this stream.
  void endWrites(Stream stream);

  /// Whether the last launch has ended, so that its pinned memory may be written.
  bool isOver() const { return cuda::isOver(driver, over); }
  void waitUntilOver() const { driver.check(driver.waitForEvent(over.get()), "cuEventSynchronize"); }
  void launch(Stream stream);
  /// Releases the graph, and the resources of libraries for it. It may be running.
  void release() { graph.reset(); }

  /// The bytes of pinned memory for a piece of `bytes` bytes.
  static uint64_t bytesToKeep(uint64_t bytes);

private:
  struct Copy {
    Address to;
    uint64_t bytes;
    char *kept;
  };
  void capture(Address to, const void *from, uint64_t bytes);
  void fill(Address to, const void *from, uint64_t bytes);

  const Driver &driver;
  const uint64_t most;
  const Pinned pinned;
  const OwnedEvent over; ///< the end of the last launch
  OwnedLaunchable graph;
  Stream origin = nullptr; ///< the stream of the current capture
  std::vector<Copy> copies;
  uint64_t used = 0;    ///< bytes of the pinned memory
  size_t captured = 0;  ///< number of enqueued copies
  size_t next = 0;      ///< the copy that is being written
  uint64_t written = 0; ///< bytes written of it
};

} // namespace xlc::runtime::cuda

#endif
