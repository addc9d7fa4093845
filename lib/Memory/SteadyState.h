// The steady state of a step with hundreds of micro-batches: one placement serves all repetitions.
//
//     warm-up | cycle | cycle | cycle | ... | cycle | cool-down        a cycle is as many micro-batches as are in
//     flight warm-up | cycle | cycle |                     | cool-down        what is placed
//                     ^ ref ^
//
// A buffer that is live across the end of the reference cycle has the offset of its predecessor, which is live across
// the cycle's begin. So the cycle can be repeated any number of times.
#ifndef XLC_LIB_MEMORY_STEADYSTATE_H
#define XLC_LIB_MEMORY_STEADYSTATE_H

#include "xlc/Memory/Placement.h"

namespace xlc {

/// Intervals without the repetitions of a cycle.
struct SteadyState {
  std::vector<Interval> shorter; ///< the others, in their order, at their moments in the shorter step
  /// Pairs of `shorter` that must have the same offset: never live together, equal in size and alignment.
  std::vector<std::pair<size_t, size_t>> tied;

  /// The offsets of all intervals, from those of the shorter step.
  std::vector<int64_t> extend(llvm::ArrayRef<int64_t> offsets) const;

  size_t begin = 0;       ///< the first interval of the reference cycle
  size_t length = 0;      ///< intervals of a cycle
  size_t repetitions = 0; ///< cycles left out, after the reference cycle
};

/// None if there is little repetition: fewer than `least` periods could be left out.
std::optional<SteadyState> findSteadyState(llvm::ArrayRef<Interval> intervals, size_t least = 64);

} // namespace xlc

#endif
