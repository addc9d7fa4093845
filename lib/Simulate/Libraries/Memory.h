// The memory of a simulated device, and the check that each access to it is ordered with all others: for each byte it
// records which queue touched it last, and when by that queue's clock. An access that does not follow the recorded one
// according to its own queue's clock is a race.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_MEMORY_H
#define XLC_LIB_SIMULATE_LIBRARIES_MEMORY_H

#include "Clock.h"

#include <list>
#include <memory>
#include <string>
#include <vector>

namespace xlc::simulate {

/// The last access of a queue to each byte of a region, by its clock. Most of a region is untouched, so the record is
/// stored by pages; and most large accesses touch whole pages, whose bytes are then equal.
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
    /// Records that bytes of the page are written, or read, now.
    void touch(uint64_t from, uint64_t count, bool writes, uint32_t now);

  private:
    Last all;                                       ///< of each byte
    std::unique_ptr<std::array<Last, kPage>> bytes; ///< null: they are alike
  };

  /// The page of a byte; null if the page is untouched.
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

/// The origin of an access: an item of a queue, with the queue's clock when it begins.
struct Accessor {
  size_t queue; ///< among the clocks
  const Clock &clock;
};

class Memory {
public:
  std::list<Region> regions;

  /// The region of the bytes in mapped memory; null if not all are mapped.
  Region *findRegion(const char *at, uint64_t bytes);
  /// Gives a region poisoned memory without recorded accesses.
  static void map(Region &region);
  /// The next item of a queue, which has this name in messages, begins.
  void beginItem(size_t queue, std::string name);
  /// Records an access and returns its error, or an empty string.
  std::string access(const Accessor &by, const char *at, uint64_t bytes, bool writes);

private:
  std::string accessPage(const Accessor &by, Region &region, uint64_t begin, uint64_t end, bool writes);
  std::string describeRace(size_t queue, uint32_t tick, const char *did) const;

  size_t queues = 0;                           ///< that have run something: these and none behind them
  std::vector<std::string> names[kMostQueues]; ///< of items, by queue and tick: for messages
};

} // namespace xlc::simulate

#endif
