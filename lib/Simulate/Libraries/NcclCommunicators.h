// Communicators of the simulated NCCL in this process, and the order in which a device's host issues their operations.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_NCCLCOMMUNICATORS_H
#define XLC_LIB_SIMULATE_LIBRARIES_NCCLCOMMUNICATORS_H

#include "Channels.h"
#include "Device.h"

#include "Cuda/Nccl.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace xlc::simulate {

using runtime::nccl::Handle;

struct Communicator;

/// Operations of all communicators of a device, in the order in which its host issues them.
struct Launches {
  std::atomic<uint64_t> asked{0}, ended{0};
  std::atomic<const Communicator *> first{nullptr}; ///< that has made some

  static Launches &of(int device) {
    static std::array<Launches, 64> &all = *new std::array<Launches, 64>;
    return all.at((size_t)device);
  }
};

struct Communicator {
  Communicator(const std::string &path, int ranks, int rank)
      : channels(path, ranks, rank), held(holdContext("communicators")) {}
  /// Ends the process if another communicator of the device has operations, too, and nothing orders them.
  void noteLaunch() {
    const Communicator *none = nullptr;
    const char *ordered = getenv("NCCL_LAUNCH_ORDER_IMPLICIT");
    if (!launches.first.compare_exchange_strong(none, this) && none != this && (!ordered || *ordered != '1'))
      endWith("operations of several communicators of a device are not ordered (NCCL_LAUNCH_ORDER_IMPLICIT)");
  }
  Channels channels;
  Launches &launches = Launches::of(deviceOfThread());
  std::atomic<uint64_t> asked{0}, ended{0}; ///< operations
  std::atomic<bool> isAborted{false};
  std::shared_ptr<void> held; ///< until it is given back; what was put into streams may know of it for longer

  /// Memory that is registered, of the rank's own thread.
  struct Registered {
    const char *begin;
    uint64_t bytes;
    std::shared_ptr<void> held;
  };
  std::list<Registered> registered;
  bool isRegistered(const char *at, uint64_t bytes) const {
    return std::ranges::any_of(
        registered, [&](const Registered &each) { return each.begin <= at && at + bytes <= each.begin + each.bytes; });
  }
};

/// Of this process, and those that a thread is to look at.
struct Living {
  std::mutex mutex;
  std::map<Communicator *, std::shared_ptr<Communicator>> all;
  static Living &get() {
    static Living &living = *new Living;
    return living;
  }
  TimePoint lastAsked() {
    std::lock_guard lock(mutex);
    TimePoint last;
    for (const auto &[address, communicator] : all)
      last = std::max(last, communicator->channels.lastAsked());
    return last;
  }
  /// Whether another communicator of its device has operations under way.
  bool isAnyBusy(const Communicator &but) {
    std::lock_guard lock(mutex);
    return std::ranges::any_of(all, [&](const auto &entry) {
      const Communicator &each = *entry.second;
      return &each != &but && &each.launches == &but.launches && !each.isAborted && each.ended != each.asked;
    });
  }
  std::shared_ptr<Communicator> find(Handle handle) {
    std::lock_guard lock(mutex);
    auto found = all.find((Communicator *)handle);
    if (found == all.end())
      endWith("a call of NCCL for a communicator that does not exist");
    return found->second;
  }
  Handle add(const std::string &path, int ranks, int rank) {
    if (ranks == 1)
      endWith("a communicator of one rank, for which NCCL would take 512 MiB");
    auto made = std::make_shared<Communicator>(path, ranks, rank);
    std::lock_guard lock(mutex);
    if (static bool isFollowed = false; !std::exchange(isFollowed, true))
      goOnWhere([this] { return lastAsked(); });
    return (Handle)(all[made.get()] = made).get();
  }
};

} // namespace xlc::simulate

#endif
