// State that the simulated devices of a process share: the order of work, the calls that fail, the counts of requests.
//
//     XLC_SIMULATE_ORDER   early: as soon as it can; late: when the host waits for it; random[:SEED] (the default, seed 0)
//     XLC_SIMULATE_FAIL    K: the K-th call of all libraries fails; NAME: each of this function; NAME:K: the K-th of this function
//     XLC_SIMULATE_OF      D: of those that threads make for device D; -1: that they make before they have one
//     XLC_SIMULATE_COUNT   set: how many calls there were, of all and by device, is said at the end, and what the host has asked for
//                          one by one
//     XLC_SIMULATE_IMAGE   the kernels as a shared library (`xlc compile --simulator-image`)
#ifndef XLC_LIB_SIMULATE_LIBRARIES_MACHINE_H
#define XLC_LIB_SIMULATE_LIBRARIES_MACHINE_H

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <string>

namespace xlc::simulate {

struct Order {
  enum { Early, Late, Random } when = Random;
  uint64_t seed = 0;
};

constexpr size_t kMostDevices = 64;

/// The requests of the host.
struct Counts {
  uint64_t pieces = 0; ///< of work, by themselves
  uint64_t graphs = 0;
  uint64_t waits = 0; ///< for work that was not over
  uint64_t allocations = 0;
};

/// Among the matching calls, the one of this number fails; 0: each.
struct FailingCalls {
  std::string function;      ///< empty: all
  std::optional<int> device; ///< none: of all
  uint64_t number = 0;
  std::atomic<uint64_t> calls{0};
};

/// Counts the calls of all libraries and selects those that fail.
class Faults {
public:
  /// Reads XLC_SIMULATE_FAIL and XLC_SIMULATE_OF.
  Faults();
  /// Counts a call by a thread of a device (-1: of none). Returns whether it must fail.
  bool count(const char *function, int device);
  /// "20 calls, 4 of -1, 16 of 0"
  std::string describe() const;

private:
  std::atomic<uint64_t> calls{0};
  std::array<std::atomic<uint64_t>, 1 + kMostDevices> callsOf{}; ///< by device; the first: of threads that have none
  std::optional<FailingCalls> failing;
};

/// State that the devices of a process share.
struct Machine {
  Machine();
  static Machine &get();

  std::mutex mutex; ///< of all that follows, and of all devices (State.h)
  const Order order;
  std::mt19937_64 random;
  Counts counts;
  Faults faults;
};

/// The device in whose context the thread works; none: -1.
inline thread_local int currentDevice = -1;

} // namespace xlc::simulate

#endif
