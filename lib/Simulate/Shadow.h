// Who touched a byte last, and whether what came between orders the next access after it.
#ifndef XLC_LIB_SIMULATE_SHADOW_H
#define XLC_LIB_SIMULATE_SHADOW_H

#include <cstdint>

namespace xlc::simulate {

/// A thread at some moment: what its block and its warp have come through together.
struct Moment {
  static constexpr int64_t kNever = -1, kSeveral = -2;

  int64_t block = kNever;
  int64_t warp = kSeveral, thread = kSeveral;
  uint32_t barriers = 0; ///< of the block
  uint32_t meetings = 0; ///< of the warp: synchronisations and exchanges
  uint32_t syncs = 0;    ///< of these, synchronisations, which order memory

  /// Whether what was done then is over now. A read whose value went into an exchange is over, a write need not be.
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

} // namespace xlc::simulate

#endif
