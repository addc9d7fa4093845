// Records the last accesses to a byte, and whether a synchronisation orders the next access after them.
#ifndef XLC_LIB_SIMULATE_SHADOW_H
#define XLC_LIB_SIMULATE_SHADOW_H

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace xlc::simulate {

/// A moment of a thread: the synchronisations that its block and its warp have passed.
struct Moment {
  static constexpr int32_t kNever = -1, kSeveral = -2;

  int32_t block = kNever;
  int32_t warp = kSeveral, thread = kSeveral;
  uint32_t barriers = 0; ///< of the block
  uint32_t meetings = 0; ///< of the warp: synchronisations and exchanges
  uint32_t syncs = 0;    ///< of these, synchronisations, which order memory

  /// Whether an access at that moment is complete now. A read whose value was exchanged is complete, a write need not
  /// be.
  bool isBefore(const Moment &now, bool wasRead) const {
    if (block == kNever || (block == now.block && thread == now.thread))
      return true;
    if (block != now.block)
      return false;
    bool metInWarp = warp == now.warp && (wasRead ? meetings < now.meetings : syncs < now.syncs);
    return barriers < now.barriers || metInWarp;
  }
};

/// Of one byte.
struct Shadow {
  Moment write, read; ///< the last of each; `read` stands for all that came since the last barrier

  void noteRead(const Moment &now) {
    bool isFresh = read.isBefore(now, true);
    Moment merged = now;
    if (!isFresh) {
      bool isOneBlock = read.block == now.block;
      merged.block = isOneBlock ? now.block : Moment::kSeveral;
      merged.warp = isOneBlock && read.warp == now.warp ? now.warp : Moment::kSeveral;
      merged.thread = Moment::kSeveral;
    }
    read = merged;
  }
};

/// Of the bytes that were touched, a page at a time.
class ShadowMemory {
public:
  Shadow &at(const char *byte) {
    auto number = (uintptr_t)byte / kPage;
    if (!page || number != pageNumber) {
      std::unique_ptr<Page> &found = pages[number];
      if (!found)
        found = std::make_unique<Page>();
      page = found.get(), pageNumber = number;
    }
    return (*page)[(uintptr_t)byte % kPage];
  }
  void clear() { pages.clear(), page = nullptr; }

private:
  static constexpr uintptr_t kPage = 1024;
  using Page = std::array<Shadow, kPage>;

  std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages; ///< looked up only
  Page *page = nullptr;                                       ///< the last one
  uintptr_t pageNumber = 0;
};

} // namespace xlc::simulate

#endif
