// Cutting a row of units into stages: plain numbers in, the ends of the stages out.
#ifndef XLC_STAGE_BALANCE_H
#define XLC_STAGE_BALANCE_H

#include "xlc/Support/Quantity.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace xlc {

/// What one unit costs: time of forward and backward for a micro-batch, bytes that stay (parameters with gradients and
/// optimizer states), bytes per micro-batch in flight (residuals).
struct UnitCost {
  Quantity time, stateBytes, residualBytes;
};

/// The end (one past the last unit) of each stage: runs of at least one unit. The largest time of a stage is as small
/// as possible; among those cuts, the largest memory. `inFlight[s]`: micro-batches that stage s keeps residuals of; as
/// many entries as stages, at most as many as units.
std::vector<size_t> balanceStages(llvm::ArrayRef<UnitCost> units, llvm::ArrayRef<int64_t> inFlight);

/// Where ranks have several stages (`rankOf[s]`): moves single units over the ends of stages as long as that makes the
/// slowest rank faster, or the slowest stage, or the fullest rank emptier, in this order of weight.
void balanceRanks(llvm::ArrayRef<UnitCost> units, llvm::ArrayRef<int64_t> inFlight, llvm::ArrayRef<int64_t> rankOf,
                  std::vector<size_t> &ends);

} // namespace xlc

#endif
