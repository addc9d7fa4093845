// Offsets for buffers whose lifetimes are known: dynamic storage allocation, off the IR.
//
//     address
//       ^   +-----------+      +----+
//       |   | residual  |      | gr |   Two buffers may share bytes only when no moment
//       |   +-----------+------+----+   sees both. The height is what the runtime
//       |   |      parameters       |   allocates; no placement is lower than the bytes
//       +---+-----------------------+-> time  live at the fullest moment.
//
// The problem is NP-hard, so this is a heuristic with a budget, and its answer is checked by code that shares
// nothing with it. The answer depends on the input only: no clock, no addresses.
#ifndef XLC_MEMORY_PLACEMENT_H
#define XLC_MEMORY_PLACEMENT_H

#include "xlc/Support/Quantity.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace xlc {

/// A buffer to be placed.
struct Interval {
  int64_t size = 0;        ///< bytes, not negative; an empty buffer is in nobody's way
  int first = 0, last = 0; ///< the moments at which it is live, both inclusive; first <= last
  int64_t alignment = 1;   ///< of the offset, at least 1
};

struct Placement {
  std::vector<int64_t> offsets; ///< one per interval, in their order
  int64_t height = 0;           ///< the largest offset + size

  /// What the height is where no place was found below kLargestArena. Offsets mean nothing then.
  static constexpr int64_t none = std::numeric_limits<int64_t>::max();
};

struct PlacementOptions {
  /// How many steps (a look at an address range or at a node of the tree of moments) may be made, over all attempts;
  /// the search ends early at the lower bound. Where one attempt alone takes more, the next one has as many again, until
  /// one comes to its end. The default takes 0.1 s and less, 0.3 s for a small plan, whose search has three times as
  /// many.
  int64_t budget = 10000000;
  /// A height that is as good as any lower one: the search ends where it is reached.
  int64_t enough = 0;
};

/// Places all intervals. Those that are live from the first moment to the last stand at the bottom, in the
/// order given; the others follow by first fit under several orders, of which the best is improved further.
/// O(n log n) beside the budget. The height is Placement::none where it would be more than kLargestArena.
Placement placeIntervals(llvm::ArrayRef<Interval> intervals, const PlacementOptions &options = {});

/// Bytes live at the fullest moment: no placement is lower.
Quantity lowerBound(llvm::ArrayRef<Interval> intervals);

/// Two intervals (by index, the smaller first) that are live together and share a byte, or none. O(n log n),
/// and independent of how the offsets came about. `offsets` has one entry per interval.
std::optional<std::pair<size_t, size_t>> findOverlap(llvm::ArrayRef<Interval> intervals,
                                                     llvm::ArrayRef<int64_t> offsets);

} // namespace xlc

#endif
