// Where a rank is, in numbers of the plan, and in words for messages.
#ifndef XLC_LIB_RUNTIME_DEVICE_POSITION_H
#define XLC_LIB_RUNTIME_DEVICE_POSITION_H

#include "Plan/Plan.h"

namespace xlc::runtime {

/// Places in the lists of the plan.
struct Position {
  static constexpr uint64_t beforeAll = UINT64_MAX;
  static constexpr uint64_t graph = UINT64_MAX - 1; ///< all actions of a step, as the device has kept them

  int rank;
  uint64_t step = 0;                            ///< from 1
  uint64_t action = beforeAll;                  ///< of the program's steps
  int64_t call = -1;                            ///< of the function that the action runs
  plan::Purpose purpose = plan::Purpose::train; ///< of the program
};

/// "rank 1, step 3, action 'layer[3] B', call 'attention', tensor '...'": what is written there first. `loaded` is the place
/// of the input that a load has come to, where it is known.
std::string describe(const Plan &plan, const Position &at, const plan::Place *loaded = nullptr);

} // namespace xlc::runtime

#endif
