// Divides a sum among the ranks: each sums one slice of every run, which the others may then read from it.
#ifndef XLC_LIB_RUNTIME_FABRIC_SLICING_H
#define XLC_LIB_RUNTIME_FABRIC_SLICING_H

#include "Fabric.h"

#include <algorithm>

namespace xlc::runtime {

/// All sizes are in elements. The last slices may be short, or empty.
struct Slicing {
  uint64_t outer, run; ///< the number of contiguous runs, and their length
  uint64_t each;       ///< the length of a slice

  uint64_t begin(uint64_t index) const { return std::min(run, index * each); }
  uint64_t length(uint64_t index) const { return begin(index + 1) - begin(index); }
};

/// The slicing of a reduce_scatter or an all_reduce. Slices of an all_reduce begin on cache lines.
inline Slicing sliceOf(const Exchange &exchange, uint64_t ranks) {
  if (exchange.kind == plan::CollectiveKind::reduce_scatter)
    return {exchange.outer, ranks * exchange.chunk, exchange.chunk};
  constexpr uint64_t grain = 16;
  uint64_t count = exchange.outer * exchange.chunk, each = (count + ranks - 1) / ranks;
  return {1, count, (each + grain - 1) / grain * grain};
}

inline Combine combinationOf(const Exchange &exchange) {
  return exchange.kind == plan::CollectiveKind::all_reduce_max ? Combine::Largest : Combine::Sum;
}

} // namespace xlc::runtime

#endif
