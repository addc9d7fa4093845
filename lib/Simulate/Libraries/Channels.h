// A communicator of the simulated NCCL: memory shared by its ranks, which may be threads or processes. Every rank has a
// channel to every other, which holds one packet:
//
//   sender     wait until the last one is taken | write a packet, count it | ... wait until it is taken
//   receiver   wait for a packet | compare what it holds with what is due, read it, count it
//
// All counts are initially 0, so the ranks may arrive in any order.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_CHANNELS_H
#define XLC_LIB_SIMULATE_LIBRARIES_CHANNELS_H

#include "Device.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace xlc::simulate {

constexpr int kMostRanks = 64;

struct Channel {
  std::atomic<uint64_t> sent, taken;
  uint64_t bytes;
  char data[(32 << 20) - 3 * sizeof(uint64_t)]; ///< pages that nobody touches cost nothing
};

/// Creates unnamed memory, so that none remains if processes are killed. Others open it by the returned path, as long
/// as `file` is open here.
std::string makeSharedFile(int &file);

class Channels {
public:
  /// Returns when all ranks have arrived.
  Channels(const std::string &path, int ranks, int rank);
  ~Channels();
  Channels(const Channels &) = delete;

  int size() const { return ranks; }
  int rank() const { return self; }
  Channel &to(int peer) const { return channels[self * ranks + peer]; }
  Channel &from(int peer) const { return channels[peer * ranks + self]; }

  /// A rank waits for this one, which has not come, and so does the host that has asked then.
  void ask(int peer, TimePoint when) {
    std::atomic<TimePoint> &asked = header->asked[peer];
    for (TimePoint last = asked; last < when && !asked.compare_exchange_weak(last, when);) {
    }
  }
  /// When a host has asked for this rank, the last that has; long ago: none.
  TimePoint lastAsked() const { return header->asked[self]; }

  struct Part {
    std::string path; ///< empty: this rank takes no part
    int ranks = 0, rank = 0;
    int file = -1; ///< of the one that has made it: to be closed when all have come
  };
  /// The part of this rank after the communicator is split. Returns when all ranks have arrived.
  Part split(int colour, int key);

private:
  struct Header {
    std::atomic<uint32_t> come;
    std::atomic<uint32_t> splitting, split; ///< ranks, over all splits
    std::atomic<TimePoint> asked[kMostRanks];
    int colours[kMostRanks], keys[kMostRanks];
    char paths[kMostRanks][32];
  };
  /// Waits until `count` is at least `least`.
  void waitFor(const std::atomic<uint32_t> &count, uint32_t least, const char *what) const;

  const int ranks, self;
  const uint64_t bytes;
  Header *header;
  Channel *channels;
  uint32_t splits = 0;
};

} // namespace xlc::simulate

#endif
