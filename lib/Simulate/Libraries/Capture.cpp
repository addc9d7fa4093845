// See Capture.h.
#include "Capture.h"

#include <algorithm>

namespace xlc::simulate {

void State::put(Queue &queue, MakeWork make) {
  if (queue.capture)
    return queue.capture->add(queue, std::move(make));
  ++machine.counts.pieces;
  for (Work &work : make())
    append(queue, {Item::Runs, std::move(work), nullptr, 0, {}});
}

void State::put(Queue &queue, Work work) {
  if (queue.capture)
    return queue.capture->add(queue, [work = std::move(work)] { return std::vector{work}; });
  ++machine.counts.pieces;
  append(queue, {Item::Runs, std::move(work), nullptr, 0, {}});
}

void State::launch(const Graph &graph, Queue &stream) {
  auto isBusy = [](const Queue *queue) { return !queue->items.empty(); };
  if (launchedIn != &stream && std::ranges::any_of(ofGraphs, isBusy))
    endWith("graphs in two streams at a time are not simulated");
  launchedIn = &stream;
  ++machine.counts.graphs;
  std::vector<std::shared_ptr<Event>> events(graph.events);
  for (auto &event : events)
    event = std::make_shared<Event>(), event->asked = 1;
  for (const GraphNode &node : graph.nodes) {
    while (node.lane > ofGraphs.size())
      ofGraphs.push_back(&addQueue());
    Queue &queue = node.lane == 0 ? stream : *ofGraphs[node.lane - 1];
    if (node.kind != Item::Runs)
      append(queue, {node.kind, {}, events[node.event], 1, {}});
    else
      for (Work &work : node.make())
        append(queue, {Item::Runs, std::move(work), nullptr, 0, {}});
  }
}

bool State::endCaptures() {
  bool any = false;
  for (const auto &capture : captures)
    if (capture->thread == std::this_thread::get_id())
      capture->isValid = false, any = true;
  return any;
}

} // namespace xlc::simulate
