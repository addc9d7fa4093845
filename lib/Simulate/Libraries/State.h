// What the simulated driver keeps of a device: streams as queues, with what they have been given and when they run,
// and memory. Captures and graphs are in Capture.h, memory in Memory.h, what devices have in common in Machine.h.
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
  /// Of the number-th device; with the machine's mutex.
  static State &of(int number);
  /// Of the thread's device, or else of the first.
  static State &get() { return of(std::max(0, currentDevice)); }

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
  /// All that can be run now, for another rank that waits for it. Whom this waits for is asked for the same moment's
  /// sake, so that no question goes around twice.
  void goOn(TimePoint when);

  /// What is wrong with an access by the item that runs now, or nothing. Notes it.
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
