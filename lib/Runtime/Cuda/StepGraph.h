// A step of a rank as one graph of the device: captured once, launched again and again. All that differs between two launches is
// what the host writes. It has a place of its own in pinned memory, from which the graph copies it:
//
//     capture   write a, write b   the copies are nodes of the graph
//     later     write a, write b   the same, in the same order, into the same places; then the graph is launched
//
// Two such graphs take turns, so that the host writes for the next step while the device is in this one.
#ifndef XLC_LIB_RUNTIME_CUDA_STEPGRAPH_H
#define XLC_LIB_RUNTIME_CUDA_STEPGRAPH_H

#include "Handles.h"

#include <vector>

namespace xlc::runtime::cuda {

class StepGraph {
public:
  /// `bytes`: what is written in a step at most, each piece as it is kept.
  StepGraph(const Driver &driver, uint64_t bytes);
  /// A capture that has not ended does.
  ~StepGraph() { cancel(); }
  StepGraph(const StepGraph &) = delete;

  /// What streams are given from now on is captured: this one, and those that wait for it.
  void beginCapture(Stream first);
  /// All streams have come back to the first. Throws DeviceFailure where it is no graph.
  void endCapture();
  void cancel() noexcept;
  bool isCapturing() const { return origin != nullptr; }

  /// Of the host's, in a capture and then before each launch: what follows each other is one copy.
  void write(Address to, const void *from, uint64_t bytes);
  /// In a capture: the copy of what was written last is put into this stream.
  void endWrites(Stream stream);

  /// Whether the last launch has ended, so that its pinned memory may be written.
  bool isOver() const { return cuda::isOver(driver, over); }
  void waitUntilOver() const { driver.check(driver.waitForEvent(over.get()), "cuEventSynchronize"); }
  void launch(Stream stream);
  /// Gives the graph back, and what libraries keep for it. It may be under way.
  void release() { graph.reset(); }

  /// Of pinned memory, for a piece of so many.
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
  const OwnedEvent over; ///< the last launch
  OwnedLaunchable graph;
  Stream origin = nullptr; ///< of the capture that is under way
  std::vector<Copy> copies;
  uint64_t used = 0;    ///< bytes of the pinned memory
  size_t captured = 0;  ///< copies that are in a stream
  size_t next = 0;      ///< copy that is written
  uint64_t written = 0; ///< bytes of that
};

} // namespace xlc::runtime::cuda

#endif
