// The position of a rank in its program, as indices of the plan and as text for messages.
#ifndef XLC_LIB_RUNTIME_DEVICE_POSITION_H
#define XLC_LIB_RUNTIME_DEVICE_POSITION_H

#include "Plan/Plan.h"

namespace xlc::runtime {

/// Indices into the lists of the plan.
struct Position {
  static constexpr uint64_t beforeAll = UINT64_MAX;
  static constexpr uint64_t graph = UINT64_MAX - 1; ///< all actions of a captured step

  int rank;
  uint64_t step = 0;                            ///< counts from 1
  uint64_t action = beforeAll;                  ///< index of the program's steps
  int64_t call = -1;                            ///< index of the call in the function that the action runs
  plan::Purpose purpose = plan::Purpose::train; ///< purpose of the program
};

/// "rank 1, step 3, action 'layer[3] B', call 'attention', tensor '...'": the tensor is the first that is written
/// there. `loaded` is the place of the input that the current load has reached, if known.
std::string describe(const Plan &plan, const Position &at, const plan::Place *loaded = nullptr);

} // namespace xlc::runtime

#endif
