// See Device.h and State.h.
#include "State.h"
#include "Capture.h"

#include <chrono>
#include <thread>

namespace xlc::simulate {

/// Never destroyed: a thread may use it until the process ends.
static std::vector<std::unique_ptr<State>> &devices() {
  static auto &all = *new std::vector<std::unique_ptr<State>>;
  return all;
}

State &State::of(int number) {
  if ((size_t)number >= devices().size())
    devices().resize((size_t)number + 1);
  auto &found = devices()[(size_t)number];
  if (!found)
    found = std::make_unique<State>(Machine::get());
  return *found;
}

void enqueue(void *stream, Work work) {
  std::lock_guard lock(Machine::get().mutex);
  State &state = State::get();
  state.put(state.findQueue((Queue *)stream), std::move(work));
}

void enqueueMade(void *stream, MakeWork make) {
  std::lock_guard lock(Machine::get().mutex);
  State &state = State::get();
  state.put(state.findQueue((Queue *)stream), std::move(make));
}

std::shared_ptr<void> holdContext(const char *what) {
  std::lock_guard lock(Machine::get().mutex);
  size_t &count = State::get().held[what];
  ++count;
  return {&count, [](size_t *count) {
            std::lock_guard lock(Machine::get().mutex);
            --*count;
          }};
}

std::shared_ptr<void> holdMemory(const void *begin, uint64_t bytes) {
  std::lock_guard lock(Machine::get().mutex);
  Region *region = State::get().memory.findRegion((const char *)begin, bytes);
  if (!region || !region->isShared)
    return nullptr;
  ++region->held;
  return {region, [](Region *region) {
            std::lock_guard lock(Machine::get().mutex);
            --region->held;
          }};
}

/// It ends with the process.
void goOnWhere(std::function<TimePoint()> lastAsked) {
  std::thread([lastAsked = std::move(lastAsked)] {
    for (TimePoint done;; std::this_thread::sleep_for(std::chrono::microseconds(100))) {
      TimePoint when = lastAsked();
      if (when <= done)
        continue;
      std::lock_guard lock(Machine::get().mutex);
      for (const auto &device : devices())
        if (device)
          device->goOn(when);
      done = when;
    }
  }).detach();
}

Queue &State::findQueue(Queue *queue) {
  if (!queue)
    return *defaultQueue;
  if (std::none_of(queues.begin(), queues.end(), [&](const auto &each) { return each.get() == queue; }))
    endWith("work for a stream that does not exist");
  return *queue;
}

Queue &State::addQueue() {
  for (size_t number = 0; number < kMostQueues; ++number)
    if (std::none_of(queues.begin(), queues.end(), [&](const auto &queue) { return queue->number == number; }))
      return *queues.emplace_back(new Queue{number, {}, host, 0});
  endWith("too many streams");
}

void State::append(Queue &queue, Item item) {
  item.known = host;
  queue.items.push_back(std::move(item));
  if (machine.order.when == Order::Early)
    while (runAny()) {
    }
  else if (machine.order.when == Order::Random)
    while (machine.random() % 2 && runAny()) {
    }
}

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
    endWith("concurrent graphs in two streams are not simulated");
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

bool State::canRun(const Queue &queue) const {
  if (queue.items.empty())
    return false;
  const Item &head = queue.items.front();
  if (head.work.meeting)
    return head.work.meeting->isOver();
  return head.kind != Item::Waits || head.event->recorded >= head.number;
}

void State::runHead(Queue &queue) {
  Item item = std::move(queue.items.front());
  queue.items.pop_front();
  ++queue.done;
  queue.clock.join(item.known);
  ++queue.clock[queue.number];
  memory.beginItem(queue.number, item.work.name);
  if (item.kind == Item::Records)
    item.event->recorded = item.number, item.event->clock = queue.clock,
    item.event->time = std::chrono::steady_clock::now();
  if (item.kind == Item::Waits)
    queue.clock.join(item.event->clock);
  if (item.kind != Item::Runs)
    return;
  running = &queue;
  touch(item.work, item.work.reads, false);
  touch(item.work, item.work.writes, true);
  item.work.run();
}

void State::touch(const Work &work, const std::vector<Span> &spans, bool writes) {
  for (const Span &span : spans)
    if (std::string problem = access((const char *)span.begin, span.bytes, writes); !problem.empty())
      endWith("'" + work.name + "'" + (writes ? " writes " : " reads ") + std::to_string(span.bytes) + " bytes" +
              problem);
}

std::string State::access(const char *at, uint64_t bytes, bool writes) {
  return memory.access({running->number, running->clock}, at, bytes, writes);
}

bool State::runAny() {
  std::vector<Queue *> ready;
  for (const auto &queue : queues)
    if (canRun(*queue))
      ready.push_back(queue.get());
  if (ready.empty())
    return false;
  runHead(*ready[machine.order.when == Order::Random ? machine.random() % ready.size() : 0]);
  return true;
}

void State::goOn(TimePoint when) {
  while (runAny()) {
  }
  askOthers(when);
}

/// What the device does next is one of those that others hold up, or comes after one of them: it was asked for later, by the host.
void State::askOthers(TimePoint when) {
  for (const auto &queue : queues)
    if (!queue->items.empty() && queue->items.front().work.meeting)
      queue->items.front().work.meeting->ask(when);
}

/// The lock is open meanwhile, and the queue may have gone on.
void State::waitForOthers(Queue &queue) {
  std::shared_ptr<Meeting> meeting = queue.items.front().work.meeting;
  uint64_t before = queue.done;
  while (queue.done == before && !meeting->isOver()) {
    if (runAny()) // it may wait for what this device does in another stream
      continue;
    askOthers(std::chrono::steady_clock::now());
    machine.mutex.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    machine.mutex.lock();
  }
}

/// As late as can be: what the queue waits for, then its own.
void State::runUpTo(Queue &queue, uint64_t done) {
  while (queue.done < done) {
    if (!canRun(queue)) {
      Item &head = queue.items.front();
      if (head.work.meeting)
        waitForOthers(queue);
      else
        runUntil(*std::shared_ptr(head.event), head.number);
    } else if (machine.order.when == Order::Random && machine.random() % 2) {
      runAny();
    } else {
      runHead(queue);
    }
  }
}

/// The queue that records the event, and how many items it has run then.
std::pair<Queue *, uint64_t> State::findRecord(const Event &event, uint64_t number) const {
  for (const auto &queue : queues)
    for (size_t i = 0; i < queue->items.size(); ++i)
      if (const Item &item = queue->items[i];
          item.kind == Item::Records && item.event.get() == &event && item.number >= number)
        return {queue.get(), queue->done + i + 1};
  endWith("a stream waits for an event that is never recorded");
}

void State::runUntil(Event &event, uint64_t number) {
  while (event.recorded < number) {
    auto [queue, done] = findRecord(event, number);
    runUpTo(*queue, done);
  }
}

void State::goOnTowards(Event &event, uint64_t number) {
  Queue &queue = *findRecord(event, number).first;
  const Item &head = queue.items.front();
  if (canRun(queue))
    runHead(queue);
  else if (!head.work.meeting)
    goOnTowards(*head.event, head.number);
  else if (!runAny()) // it may wait for what this device does in another stream
    askOthers(std::chrono::steady_clock::now());
}

void State::waitFor(Queue &queue) {
  machine.counts.waits += !queue.items.empty();
  runUpTo(queue, queue.done + queue.items.size());
  host.join(queue.clock);
}

} // namespace xlc::simulate
