// Offsets for buffers with known lifetimes: dynamic storage allocation, independent of the IR.
//
//     address
//       ^   +-----------+      +----+
//       |   | residual  |      | gr |   Two buffers may share bytes only when no moment
//       |   +-----------+------+----+   sees both. The height is what the runtime
//       |   |      parameters       |   allocates; no placement is lower than the bytes
//       +---+-----------------------+-> time  live at the fullest moment.
//
// The problem is NP-hard. This is a heuristic with a budget, and its answer is checked by code that shares nothing with
// it. The answer depends on the input only, not on time or addresses.
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
  int64_t size = 0;        ///< bytes, not negative; an empty buffer conflicts with no other
  int first = 0, last = 0; ///< the moments at which it is live, both inclusive; first <= last
  int64_t alignment = 1;   ///< of the offset, at least 1
};

struct Placement {
  std::vector<int64_t> offsets; ///< one per interval, in their order
  int64_t height = 0;           ///< the largest offset + size

  /// The height if no placement below kLargestArena was found. The offsets are then undefined.
  static constexpr int64_t none = std::numeric_limits<int64_t>::max();
};

struct PlacementOptions {
  /// The maximum number of steps over all attempts. A step visits an address range or a node of the tree of moments.
  /// The search ends early at the lower bound. If a single attempt needs more, the next one gets the same number again,
  /// until one completes. The default takes 0.1 s and less, 0.3 s for a small plan, whose search has three times as
  /// many.
  int64_t budget = 10000000;
  /// A height that is sufficient: the search stops when it is reached.
  int64_t enough = 0;
};

/// Places all intervals. Those that are live from the first moment to the last are placed at the bottom, in the order
/// given. The others are placed by first fit under several orders, and the best result is improved further. O(n log n)
/// plus the budget. The height is Placement::none if it would be more than kLargestArena.
Placement placeIntervals(llvm::ArrayRef<Interval> intervals, const PlacementOptions &options = {});

/// Live bytes at the peak, a lower bound for every placement.
Quantity lowerBound(llvm::ArrayRef<Interval> intervals);

/// Two intervals (by index, the smaller first) that are live together and share a byte, or none. O(n log n), and
/// independent of the algorithm that computed the offsets. `offsets` has one entry per interval.
std::optional<std::pair<size_t, size_t>> findOverlap(llvm::ArrayRef<Interval> intervals,
                                                     llvm::ArrayRef<int64_t> offsets);

} // namespace xlc

#endif
