// The state of a device in the simulated driver: streams as queues, with their work and its order, and memory. Captures
// and graphs are in Capture.h, memory is in Memory.h, state that devices share in Machine.h.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_STATE_H
#define XLC_LIB_SIMULATE_LIBRARIES_STATE_H

#include "Machine.h"
#include "Memory.h"
#include "Queue.h"

#include <algorithm>
#include <map>
#include <memory>

namespace xlc::simulate {

struct Graph;

struct State {
  explicit State(Machine &machine) : machine(machine) {}
  /// The state of device `number`; requires the machine's mutex.
  static State &of(int number);
  /// The state of the thread's device, or else of the first.
  static State &get() { return of(std::max(0, currentDevice)); }

  /// Null: the default stream.
  Queue &findQueue(Queue *queue);
  /// Adds the host's work to a queue, or to the queue's capture.
  void put(Queue &queue, MakeWork make);
  void put(Queue &queue, Work work);
  void append(Queue &queue, Item item);
  void launch(const Graph &graph, Queue &stream);
  /// Runs a queue's items, and their dependencies, until it has run `done`.
  void runUpTo(Queue &queue, uint64_t done);
  void runUntil(Event &event, uint64_t number);
  /// Runs one of the items that an event follows, if any can run.
  void goOnTowards(Event &event, uint64_t number);
  /// The host waits for all that is in a queue.
  void waitFor(Queue &queue);
  /// Invalidates the captures that this thread has begun, so that they cannot become graphs. Returns whether there were
  /// any.
  bool endCaptures();
  /// Runs an item of any queue that can proceed; false if none can.
  bool runAny();
  /// Runs all work that can run now, for another rank that waits for it. Requests to further ranks carry the same time,
  /// so that no request circulates twice.
  void goOn(TimePoint when);

  /// Records an access of the running item and returns its error, or an empty string.
  std::string access(const char *at, uint64_t bytes, bool writes);

  Machine &machine;
  Memory memory;
  std::vector<std::unique_ptr<Queue>> queues;
  Queue &addQueue();
  std::vector<Queue *> ofGraphs; ///< of these, by lane
  std::vector<std::shared_ptr<Capture>> captures;
  std::map<std::string, size_t> held; ///< by other libraries, how many of what
  Clock host;                         ///< what it has waited for
  Queue *const defaultQueue = &addQueue();

private:
  void touch(const Work &work, const std::vector<Span> &spans, bool writes);
  Queue *running = nullptr;
  Queue *launchedIn = nullptr; ///< the stream of the last graph
  bool canRun(const Queue &queue) const;
  void runHead(Queue &queue);
  std::pair<Queue *, uint64_t> findRecord(const Event &event, uint64_t number) const;
  void waitForOthers(Queue &queue);
  void askOthers(TimePoint when);
};

} // namespace xlc::simulate

#endif
