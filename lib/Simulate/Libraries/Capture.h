// The work of captured streams, and graphs, which enqueue it repeatedly:
//
//   lane 0, the stream of the capture's begin       work, record 0, .................. wait 1, work
//   lane 1, one that waits for an event of lane 0          wait 0, work, record 1
//
// A launch has lane 0 in its own stream and the others in queues that belong to graphs only. All order between lanes is
// by events; each launch has its own.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_CAPTURE_H
#define XLC_LIB_SIMULATE_LIBRARIES_CAPTURE_H

#include "Queue.h"

#include <thread>

namespace xlc::simulate {

struct GraphNode {
  size_t lane;
  Item::Kind kind;
  MakeWork make; ///< of one that runs: for each launch
  size_t event;  ///< that it records or waits for, among the graph's
};

/// Also represents an executable graph, which needs no further state.
struct Graph {
  std::vector<GraphNode> nodes;
  size_t events = 0;
  uint64_t uploaded = 0; ///< bytes of the device's memory
};

struct Capture {
  const std::thread::id thread = std::this_thread::get_id(); ///< that has begun it
  std::vector<Queue *> lanes;
  std::vector<Clock> clocks; ///< by lane: how many nodes of each lane come before what it is given next
  std::vector<Clock> events; ///< the same, of records
  Graph graph;
  bool isValid = true;

  /// A stream that is captured from now on; this is the capture.
  void addLane(Queue &queue, const std::shared_ptr<Capture> &self) {
    queue.capture = self, queue.lane = lanes.size();
    lanes.push_back(&queue), clocks.emplace_back();
  }
  void add(const Queue &queue, MakeWork make) {
    ++clocks[queue.lane][queue.lane];
    graph.nodes.push_back({queue.lane, Item::Runs, std::move(make), 0});
  }
  void record(const Queue &queue, Event &event) {
    event.number = events.size();
    events.push_back(clocks[queue.lane]);
    graph.nodes.push_back({queue.lane, Item::Records, nullptr, event.number});
    graph.events = events.size();
  }
  void wait(const Queue &queue, const Event &event) {
    clocks[queue.lane].join(events[event.number]);
    graph.nodes.push_back({queue.lane, Item::Waits, nullptr, event.number});
  }
  /// Whether the first lane follows all work of the others.
  bool isJoined() const {
    for (size_t lane = 1; lane < lanes.size(); ++lane)
      if (clocks[0][lane] < clocks[lane][lane])
        return false;
    return true;
  }
  void release() const {
    for (Queue *queue : lanes)
      queue->capture = nullptr;
  }
};

} // namespace xlc::simulate

#endif
