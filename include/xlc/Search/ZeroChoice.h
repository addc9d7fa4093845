// The choices of ZeRO's stages 2 and 3 that a spec may leave to the planner, and their outcome:
//
//                               saves memory (the default)            moves fewer bytes
//   zero.reduce                 micro_batch: the gradient's shard     step: the gradient is kept whole, as in
//                               is kept between micro-batches         stage 1, and reduced once
//   zero.reshard_after_forward  true: gathered for each use and       false: gathered once per step
//                               released after it                     and kept
//
// If both fit the memory, the choice that moves fewer bytes is better.
#ifndef XLC_SEARCH_ZEROCHOICE_H
#define XLC_SEARCH_ZEROCHOICE_H

#include "xlc/Support/Quantity.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace xlc {

/// An answer to both choices, and the requirements of its plan.
struct ZeroTrial {
  bool reducesPerStep = false, keepsGathered = false;
  Quantity traffic; ///< bytes per step over dp for parameters and gradients, of the rank that reads most
  /// bytes of the fullest rank; none: not planned, since a plan that moves no more bytes fits
  std::optional<int64_t> total;
};

struct ZeroChoice {
  /// Moot: nothing is sharded, or there is only one micro-batch. Default: `auto`, and the spec gives no memory limit.
  enum class Origin { Moot, Given, Default, Memory };
  Origin reduce = Origin::Moot, gather = Origin::Moot;
  bool reducesPerStep = false, keepsGathered = false;
  std::vector<ZeroTrial> trials; ///< if an origin is Memory: at most four, in order of bytes moved

  /// The trial with these answers, or null.
  const ZeroTrial *find(bool reducesPerStep, bool keepsGathered) const {
    for (const ZeroTrial &trial : trials)
      if (trial.reducesPerStep == reducesPerStep && trial.keepsGathered == keepsGathered)
        return &trial;
    return nullptr;
  }
};

} // namespace xlc

#endif
