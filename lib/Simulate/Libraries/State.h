// What the simulated driver keeps: of each device streams as queues and memory, and when queues run.
//
//     XLC_SIMULATE_ORDER   early: as soon as it can; late: when the host waits for it; random[:SEED] (the default, seed 0)
//     XLC_SIMULATE_FAIL    K: the K-th call of all libraries fails; NAME: each of this function; NAME:K: the K-th of this function
//     XLC_SIMULATE_OF      D: of those that threads make for device D; -1: that they make before they have one
//     XLC_SIMULATE_COUNT   set: how many calls there were, of all and by device, is said at the end, and what the host has asked for
//                          one by one
//     XLC_SIMULATE_IMAGE   the kernels as a shared library (`xlc compile --simulator-image`)
#ifndef XLC_LIB_SIMULATE_LIBRARIES_STATE_H
#define XLC_LIB_SIMULATE_LIBRARIES_STATE_H

#include "Device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>

namespace xlc::simulate {

/// Of each queue, how many of its items are over for certain. What is done on a queue is after all that its clock has.
constexpr size_t kMostQueues = 20;
struct Clock : std::array<uint32_t, kMostQueues> {
  Clock() : array{} {}
  void join(const Clock &other) {
    for (size_t i = 0; i < size(); ++i)
      (*this)[i] = std::max((*this)[i], other[i]);
  }
};

struct Capture;

struct Event {
  uint64_t asked = 0;    ///< how often it was put into a queue
  uint64_t recorded = 0; ///< the last of these that its queue came to
  Clock clock;           ///< of that moment
  bool hasTime = false;
  std::chrono::steady_clock::time_point time; ///< of that moment
  std::shared_ptr<Capture> capture;           ///< in which it was recorded last; null: in none
  size_t number = 0;                          ///< among the records of that
};

struct Item {
  enum Kind { Runs, Records, Waits } kind;
  Work work;
  std::shared_ptr<Event> event;
  uint64_t number; ///< of the event's records
  Clock known;     ///< what the host had waited for when it asked for this
};

struct Queue {
  size_t number; ///< among the clocks
  std::deque<Item> items;
  Clock clock;
  uint64_t done = 0;                          ///< items that it has run
  std::shared_ptr<Capture> capture = nullptr; ///< of what it is given; null: it runs that
  size_t lane = 0;                            ///< of the capture
  int priority = 0;
};

/// When a queue touched each byte of a region last, by its clock. Most of a region is left alone, so it is kept by pages; and most of
/// what is large is touched by whole pages, whose bytes are alike.
class Touches {
public:
  static constexpr uint64_t kPage = 4096;
  struct Last {
    uint32_t written = 0, read = 0; ///< 0: never
  };
  class Page {
  public:
    bool isAlike() const { return !bytes; }
    Last at(uint64_t byte) const { return bytes ? (*bytes)[byte] : all; }
    /// Bytes of the page are written, or read, now.
    void touch(uint64_t from, uint64_t count, bool writes, uint32_t now);

  private:
    Last all;                                       ///< of each byte
    std::unique_ptr<std::array<Last, kPage>> bytes; ///< null: they are alike
  };

  /// That of a byte; null: none of the page.
  const Page *find(uint64_t byte) const { return byte / kPage < pages.size() ? pages[byte / kPage].get() : nullptr; }
  Page &make(uint64_t byte) {
    if (byte / kPage >= pages.size())
      pages.resize(byte / kPage + 1);
    std::unique_ptr<Page> &page = pages[byte / kPage];
    if (!page)
      page = std::make_unique<Page>();
    return *page;
  }

private:
  std::vector<std::unique_ptr<Page>> pages;
};

struct Region {
  char *begin;
  uint64_t bytes;
  bool isMapped = false, isShared = false;    ///< shared: others can map it
  size_t held = 0;                            ///< by other libraries, how often
  std::array<Touches, kMostQueues> touches{}; ///< by queue
};

struct Order {
  enum { Early, Late, Random } when = Random;
  uint64_t seed = 0;
};

struct State;
struct Graph;
constexpr size_t kMostDevices = 64;

/// What the host has asked for.
struct Counts {
  uint64_t pieces = 0; ///< of work, by themselves
  uint64_t graphs = 0;
  uint64_t waits = 0; ///< for work that was not over
  uint64_t allocations = 0;
};

/// What the devices of a process have in common.
struct Machine {
  Machine();
  static Machine &get();
  /// The number-th device.
  State &device(int number);

  std::mutex mutex; ///< of all that follows, and of all devices
  const Order order;
  std::mt19937_64 random;
  std::vector<std::unique_ptr<State>> devices;
  Counts counts;
  std::atomic<uint64_t> calls{0};
  std::array<std::atomic<uint64_t>, 1 + kMostDevices> callsOf{}; ///< by device; the first: of threads that have none
  std::string describeCalls() const;

  /// Of these calls the one of this number is to fail; 0: each.
  struct Failing {
    std::string function;      ///< empty: all
    std::optional<int> device; ///< none: of all
    uint64_t number = 0;
    std::atomic<uint64_t> calls{0};
  };
  std::optional<Failing> failing;
};

/// Whose context the thread works in; none: -1.
inline thread_local int currentDevice = -1;

struct State {
  explicit State(Machine &machine) : machine(machine) {}
  /// Of the thread's device, or else of the first.
  static State &get() { return Machine::get().device(std::max(0, currentDevice)); }

  /// Null: the default stream.
  Queue &findQueue(Queue *queue);
  /// Work of the host's for a queue, or for the capture that has it.
  void put(Queue &queue, MakeWork make);
  void put(Queue &queue, Work work);
  void append(Queue &queue, Item item);
  void launch(const Graph &graph, Queue &stream);
  /// Runs a queue's items until it has run `done`, and what they wait for.
  void runUpTo(Queue &queue, uint64_t done);
  void runUntil(Event &event, uint64_t number);
  /// One item of what an event comes after, if any can run.
  void goOnTowards(Event &event, uint64_t number);
  /// The host waits for all that is in a queue.
  void waitFor(Queue &queue);
  /// Captures that this thread has begun can not become graphs any more. Whether there were some.
  bool endCaptures();
  /// Of all queues, one that can go on; false: none can.
  bool runAny();
  /// All that can be run now, for another rank that waits for it. Whom this waits for is asked for the same moment's sake, so that
  /// no question goes around twice.
  void goOn(TimePoint when);

  /// Where the bytes lie in mapped memory; null: not all do.
  Region *findRegion(const char *at, uint64_t bytes);
  /// What is wrong with an access by the item that runs now, or nothing. Notes it.
  std::string access(const char *at, uint64_t bytes, bool writes);
  static void map(Region &region);

  Machine &machine;
  std::vector<std::unique_ptr<Queue>> queues;
  size_t clocks = 0; ///< that queues have had
  Queue &addQueue();
  std::vector<Queue *> ofGraphs; ///< of these, by lane
  std::vector<std::shared_ptr<Capture>> captures;
  std::list<Region> regions;
  std::map<std::string, size_t> held; ///< by other libraries, how many of what
  Clock host;                         ///< what it has waited for
  Queue *const defaultQueue = &addQueue();

private:
  void touch(const Work &work, const std::vector<Span> &spans, bool writes);
  std::string accessPage(Region &region, uint64_t begin, uint64_t end, bool writes);
  std::string describeRace(size_t queue, uint32_t tick, const char *did) const;
  Queue *running = nullptr;
  Queue *launchedIn = nullptr;                 ///< the stream of the last graph
  std::vector<std::string> names[kMostQueues]; ///< of items, by queue and tick: for messages
  bool canRun(const Queue &queue) const;
  void runHead(Queue &queue);
  std::pair<Queue *, uint64_t> findRecord(const Event &event, uint64_t number) const;
  void waitForOthers(Queue &queue);
  void askOthers(TimePoint when);
};

} // namespace xlc::simulate

#endif
