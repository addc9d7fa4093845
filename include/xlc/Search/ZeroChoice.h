// What a spec may leave to the planner about ZeRO's stages 2 and 3, and what became of it:
//
//                               saves memory (the default)            moves fewer bytes
//   zero.reduce                 micro_batch: the gradient's shard     step: the gradient is kept whole, as in
//                               is kept between micro-batches         stage 1, and reduced once
//   zero.reshard_after_forward  true: gathered for each use and       false: gathered once per step
//                               released after it                     and kept
//
// Where memory is limited and both fit, there is no reason to move more.
#ifndef XLC_SEARCH_ZEROCHOICE_H
#define XLC_SEARCH_ZEROCHOICE_H

#include "xlc/Support/Quantity.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace xlc {

/// An answer to both questions, and what its plan takes.
struct ZeroTrial {
  bool reducesPerStep = false, keepsGathered = false;
  Quantity traffic;             ///< bytes per step over dp for parameters and gradients, of the rank that reads most
  std::optional<int64_t> total; ///< bytes of the fullest rank; none: not planned, since one that moves no more fits
};

struct ZeroChoice {
  /// Moot: nothing is sharded, or there is but one micro-batch. Default: `auto`, and no memory is given to decide by.
  enum class Origin { Moot, Given, Default, Memory };
  Origin reduce = Origin::Moot, gather = Origin::Moot;
  bool reducesPerStep = false, keepsGathered = false;
  std::vector<ZeroTrial> trials; ///< where an origin is Memory: at most four, the one that moves least first

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
