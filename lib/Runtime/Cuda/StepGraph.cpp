// See StepGraph.h.
#include "StepGraph.h"

#include <cstring>
#include <stdexcept>
#include <utility>

namespace xlc::runtime::cuda {

constexpr uint64_t alignment = 16; // of what is copied by itself

uint64_t StepGraph::bytesToKeep(uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

StepGraph::StepGraph(const Driver &driver, uint64_t bytes)
    : driver(driver), most(bytes), pinned(allocatePinned(driver, most + alignment)), over(makeEvent(driver)) {}

void StepGraph::beginCapture(Stream first) {
  driver.check(driver.beginCapture(first, captureOfThread), "cuStreamBeginCapture");
  origin = first;
}

void StepGraph::endCapture() {
  Stream stream = std::exchange(origin, nullptr);
  Graph made = nullptr;
  Status status = driver.endCapture(stream, &made);
  OwnedGraph owned(made, {&driver});
  driver.check(status, "cuStreamEndCapture");
  LaunchableGraph launchable = nullptr;
  driver.check(driver.instantiate(&launchable, made, withPriorities), "cuGraphInstantiateWithFlags");
  graph = OwnedLaunchable(launchable, {&driver});
  driver.check(driver.upload(launchable, stream), "cuGraphUpload"); // so that no launch allocates
  next = copies.size();                                             // the first launch has what was written meanwhile
}

void StepGraph::cancel() noexcept {
  if (!origin)
    return;
  Graph made = nullptr;
  driver.endCapture(std::exchange(origin, nullptr), &made);
  if (made)
    driver.destroyGraph(made);
}

void StepGraph::write(Address to, const void *from, uint64_t bytes) {
  isCapturing() ? capture(to, from, bytes) : fill(to, from, bytes);
}

void StepGraph::capture(Address to, const void *from, uint64_t bytes) {
  bool follows = captured < copies.size() && copies.back().to + copies.back().bytes == to;
  if (!follows) {
    used = bytesToKeep(used);
    copies.push_back({to, 0, (char *)pinned.get() + used});
  }
  if (used + bytes > most)
    throw std::logic_error("a step writes more bytes than the steps before it");
  std::memcpy(copies.back().kept + copies.back().bytes, from, bytes);
  copies.back().bytes += bytes, used += bytes;
}

void StepGraph::endWrites(Stream stream) {
  for (; captured < copies.size(); ++captured) {
    const Copy &copy = copies[captured];
    driver.check(driver.copyToDevice(copy.to, copy.kept, copy.bytes, stream), "cuMemcpyHtoDAsync");
  }
}

/// Pieces may be others than those of the capture.
void StepGraph::fill(Address to, const void *from, uint64_t bytes) {
  bool fits = next < copies.size() && copies[next].to + written == to && written + bytes <= copies[next].bytes;
  if (!fits)
    throw std::logic_error("a step writes to other addresses than its CUDA graph");
  std::memcpy(copies[next].kept + written, from, bytes);
  written += bytes;
  if (written == copies[next].bytes)
    ++next, written = 0;
}

void StepGraph::launch(Stream stream) {
  if (next < copies.size())
    throw std::logic_error("a step writes fewer bytes than its CUDA graph");
  driver.check(driver.launchGraph(graph.get(), stream), "cuGraphLaunch");
  driver.check(driver.record(over.get(), stream), "cuEventRecord");
  next = 0;
}

} // namespace xlc::runtime::cuda
