// A stream of a simulated device as a queue of the host's requests: work, and events that are recorded or waited for.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_QUEUE_H
#define XLC_LIB_SIMULATE_LIBRARIES_QUEUE_H

#include "Clock.h"
#include "Device.h"

#include <chrono>
#include <deque>
#include <memory>

namespace xlc::simulate {

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

} // namespace xlc::simulate

#endif
