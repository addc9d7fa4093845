// libcuda.so.1 of the simulated device: captures of streams and graphs, under the real names. Captures use the mode in
// which only the thread that begins them must not call functions that are forbidden in a capture.
#include "CudaContext.h"

#include <utility>

using namespace xlc::simulate;

CUDA_FUNCTION cuStreamBeginCapture_v2(Queue *stream, int mode) {
  constexpr int ofThread = 1;
  Call call("cuStreamBeginCapture");
  if (!call.isGood())
    return call.status;
  if (mode != ofThread)
    endWith("only captures of mode thread-local are simulated");
  if (!stream)
    return captureUnsupported;
  Queue &queue = call.state.findQueue(stream);
  if (queue.capture)
    return invalidValue;
  auto capture = call.state.captures.emplace_back(std::make_shared<Capture>());
  capture->addLane(queue, capture);
  return success;
}
CUDA_FUNCTION cuStreamEndCapture(Queue *stream, Graph **made) {
  Call call("cuStreamEndCapture");
  *made = nullptr;
  std::shared_ptr<Capture> capture = call.state.findQueue(stream).capture;
  if (!capture)
    return invalidValue;
  if (capture->lanes[0] != stream)
    return captureUnmatched;
  if (capture->thread != std::this_thread::get_id())
    return captureWrongThread;
  capture->release();
  std::erase(call.state.captures, capture);
  auto graph = std::make_unique<Graph>(std::exchange(capture->graph, {})); // events keep the capture
  if (!call.isGood())                                                      // what fails on purpose ends it all the same
    return call.status;
  if (!capture->isValid)
    return captureInvalidated;
  if (!capture->isJoined())
    return captureUnjoined;
  *made = graph.get();
  call.context.graphs[*made] = std::move(graph);
  return success;
}
CUDA_FUNCTION cuGraphInstantiateWithFlags(Graph **made, Graph *graph, unsigned long long flags) {
  constexpr unsigned long long withPriorities = 8;
  Call call("cuGraphInstantiateWithFlags");
  if (!call.isOutsideOfCaptures() || !call.context.graphs.count(graph) || flags & ~withPriorities)
    return call.isGood() ? invalidValue : call.status;
  auto executable = std::make_unique<Graph>(*graph);
  *made = executable.get();
  call.context.executables[*made] = std::move(executable);
  return success;
}
CUDA_FUNCTION cuGraphUpload(Graph *executable, Queue *stream) {
  constexpr uint64_t bytesOfNode = 1024; // of the device's memory
  Call call("cuGraphUpload");
  if (!call.findQueue(stream) || !call.context.executables.count(executable))
    return call.isGood() ? invalidValue : call.status;
  call.context.allocated -= executable->uploaded;
  call.context.allocated += executable->uploaded = executable->nodes.size() * bytesOfNode;
  return success;
}
CUDA_FUNCTION cuGraphDestroy(Graph *graph) {
  Call call("cuGraphDestroy");
  return call.context.graphs.erase(graph) == 1 ? success : invalidValue;
}
/// What is under way ends.
CUDA_FUNCTION cuGraphExecDestroy(Graph *executable) {
  Call call("cuGraphExecDestroy");
  if (!call.context.executables.count(executable))
    return invalidValue;
  call.context.allocated -= executable->uploaded;
  call.context.executables.erase(executable);
  return success;
}
CUDA_FUNCTION cuGraphLaunch(Graph *executable, Queue *stream) {
  Call call("cuGraphLaunch");
  Queue *queue = call.findQueue(stream);
  if (!queue || !call.context.executables.count(executable))
    return queue ? invalidValue : call.status;
  if (queue->capture)
    endWith("nested graphs are not simulated");
  call.state.launch(*executable, *queue);
  return success;
}
