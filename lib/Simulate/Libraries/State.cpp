// See Device.h and State.h.
#include "State.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <thread>

namespace xlc::simulate {
namespace {

constexpr unsigned char kPoison = 0xfb; // of floats: a NaN in sixteen bits, else large

Order readOrder(const char *text) {
  std::string word = text ? text : "random";
  size_t colon = word.find(':');
  Order order;
  if (colon != std::string::npos)
    order.seed = std::strtoull(word.c_str() + colon + 1, nullptr, 10);
  word = word.substr(0, colon);
  if (word == "early")
    order.when = Order::Early;
  else if (word == "late")
    order.when = Order::Late;
  else if (word != "random")
    endWith("XLC_SIMULATE_ORDER is early, late, random or random:SEED, not '" + word + "'");
  return order;
}

} // namespace

bool isToFail(const char *function) {
  Machine &machine = Machine::get();
  ++machine.calls, ++machine.callsOf[(size_t)currentDevice + 1];
  bool fails = false;
  if (auto &failing = machine.failing; failing && (!failing->device || *failing->device == currentDevice) &&
                                       (failing->function.empty() || failing->function == function))
    fails = ++failing->calls == failing->number || failing->number == 0;
  if (fails)
    std::fprintf(stderr, "simulated: %s fails\n", function);
  return fails;
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

int deviceOfThread() { return std::max(0, currentDevice); }

bool comesLate() { return Machine::get().order.when == Order::Late; }

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
  Region *region = State::get().findRegion((const char *)begin, bytes);
  if (!region || !region->isShared)
    return nullptr;
  ++region->held;
  return {region, [](Region *region) {
            std::lock_guard lock(Machine::get().mutex);
            --region->held;
          }};
}

double patience() {
  const char *text = getenv("XLC_SIMULATE_PATIENCE");
  return text ? std::strtod(text, nullptr) : 60;
}

/// It ends with the process.
void goOnWhere(std::function<TimePoint()> lastAsked) {
  std::thread([lastAsked = std::move(lastAsked)] {
    for (TimePoint done;; std::this_thread::sleep_for(std::chrono::microseconds(100))) {
      TimePoint when = lastAsked();
      if (when <= done)
        continue;
      Machine &machine = Machine::get();
      std::lock_guard lock(machine.mutex);
      for (const auto &device : machine.devices)
        if (device)
          device->goOn(when);
      done = when;
    }
  }).detach();
}

Machine::Machine() : order(readOrder(getenv("XLC_SIMULATE_ORDER"))), random(order.seed) {
  const char *given = getenv("XLC_SIMULATE_FAIL");
  if (!given)
    return;
  std::string text = given;
  size_t digits = text.find_last_not_of("0123456789") + 1;
  failing.emplace();
  failing->function = text.substr(0, text.find(':'));
  if (digits == 0)
    failing->function.clear();
  failing->number = std::strtoull(text.c_str() + digits, nullptr, 10);
  if (const char *device = getenv("XLC_SIMULATE_OF"))
    failing->device = (int)std::strtol(device, nullptr, 10);
}

/// "simulated device: 20 calls, 4 of -1, 16 of 0; 9 pieces of work, 0 graphs, 2 waits, 1 allocations"
std::string Machine::describeCalls() const {
  std::string text = "simulated device: " + std::to_string(calls) + " calls";
  for (int device = -1; device < (int)kMostDevices; ++device)
    if (uint64_t own = callsOf[(size_t)device + 1])
      text += ", " + std::to_string(own) + " of " + std::to_string(device);
  return text + "; " + std::to_string(counts.pieces) + " pieces of work, " + std::to_string(counts.graphs) +
         " graphs, " + std::to_string(counts.waits) + " waits, " + std::to_string(counts.allocations) + " allocations";
}

/// Never destroyed: a thread may use it until the process ends.
Machine &Machine::get() {
  static Machine &machine = *new Machine;
  static const struct Counted {
    ~Counted() {
      if (getenv("XLC_SIMULATE_COUNT"))
        std::fprintf(stderr, "%s\n", machine.describeCalls().c_str());
    }
  } counted;
  return machine;
}

State &Machine::device(int number) {
  if ((size_t)number >= devices.size())
    devices.resize((size_t)number + 1);
  auto &found = devices[(size_t)number];
  if (!found)
    found = std::make_unique<State>(*this);
  return *found;
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
    if (std::none_of(queues.begin(), queues.end(), [&](const auto &queue) { return queue->number == number; })) {
      clocks = std::max(clocks, number + 1);
      return *queues.emplace_back(new Queue{number, {}, host, 0});
    }
  endWith("more streams than clocks have room for");
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
  names[queue.number].push_back(item.work.name);
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
  endWith("a stream waits for an event that nobody records");
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

Region *State::findRegion(const char *at, uint64_t bytes) {
  for (Region &region : regions)
    if (region.isMapped && at >= region.begin && at + bytes <= region.begin + region.bytes)
      return &region;
  return nullptr;
}

std::string State::describeRace(size_t queue, uint32_t tick, const char *did) const {
  return std::string(" that '") + names[queue][tick - 1] + "' on another stream " + did + "; nothing orders them";
}

std::string State::access(const char *at, uint64_t bytes, bool writes) {
  Region *region = findRegion(at, bytes);
  if (!region)
    return " outside of the device's memory";
  uint64_t from = (uint64_t)(at - region->begin);
  for (uint64_t end = from + bytes, next; from < end; from = next) {
    next = std::min(end, (from / Touches::kPage + 1) * Touches::kPage);
    if (std::string problem = accessPage(*region, from, next, writes); !problem.empty())
      return problem;
  }
  return "";
}

/// Bytes of one page.
std::string State::accessPage(Region &region, uint64_t begin, uint64_t end, bool writes) {
  const Clock &clock = running->clock;
  Touches::Page &own = region.touches[running->number].make(begin);
  std::array<const Touches::Page *, kMostQueues> all{};
  bool areAlike = true;
  for (size_t queue = 0; queue < clocks; ++queue) {
    all[queue] = region.touches[queue].find(begin);
    areAlike &= !all[queue] || all[queue]->isAlike();
  }
  const uint64_t from = begin % Touches::kPage, count = end - begin;
  for (uint64_t byte = from; byte < from + (areAlike ? 1 : count); ++byte) {
    bool wasWritten = false;
    for (size_t queue = 0; queue < clocks; ++queue) {
      if (!all[queue])
        continue;
      Touches::Last last = all[queue]->at(byte);
      wasWritten |= last.written > 0;
      if (last.written > clock[queue])
        return describeRace(queue, last.written, "writes");
      if (writes && last.read > clock[queue])
        return describeRace(queue, last.read, "reads");
    }
    if (!writes && !wasWritten)
      return " that nobody wrote";
  }
  own.touch(from, count, writes, clock[running->number]);
  return "";
}

/// A queue's write comes after its reads: who comes after the write comes after them.
void Touches::Page::touch(uint64_t from, uint64_t count, bool writes, uint32_t now) {
  if (count == kPage && writes) {
    all = {now, 0}, bytes.reset();
    return;
  }
  if (count == kPage && isAlike()) {
    all.read = now;
    return;
  }
  if (isAlike()) {
    bytes = std::make_unique<std::array<Last, kPage>>();
    bytes->fill(all);
  }
  for (uint64_t byte = from; byte < from + count; ++byte)
    (writes ? (*bytes)[byte].written : (*bytes)[byte].read) = now;
}

void State::map(Region &region) {
  if (mprotect(region.begin, region.bytes, PROT_READ | PROT_WRITE) != 0)
    endWith("no memory");
  std::memset(region.begin, kPoison, region.bytes);
  region.touches = {};
  region.isMapped = true;
}

} // namespace xlc::simulate
