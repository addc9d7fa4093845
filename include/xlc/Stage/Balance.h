// Cuts a row of units into stages. The input is plain numbers, the output the ends of the stages.
#ifndef XLC_STAGE_BALANCE_H
#define XLC_STAGE_BALANCE_H

#include "xlc/Support/Quantity.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace xlc {

/// The cost of one unit: time of forward and backward for a micro-batch, persistent bytes (parameters with gradients
/// and optimizer states), bytes per micro-batch in flight (residuals).
struct UnitCost {
  Quantity time, stateBytes, residualBytes;
};

/// The end (one past the last unit) of each stage: runs of at least one unit. Minimizes the largest time of a stage
/// and, among the optimal cuts, the largest memory. `inFlight[s]`: the number of micro-batches whose residuals stage s
/// keeps; one entry per stage, at most as many as units.
std::vector<size_t> balanceStages(llvm::ArrayRef<UnitCost> units, llvm::ArrayRef<int64_t> inFlight);

/// For ranks with several stages (`rankOf[s]`): moves single units across the ends of stages while that improves, in
/// this order of priority, the slowest rank, the slowest stage, or the memory of the fullest rank.
void balanceRanks(llvm::ArrayRef<UnitCost> units, llvm::ArrayRef<int64_t> inFlight, llvm::ArrayRef<int64_t> rankOf,
                  std::vector<size_t> &ends);

} // namespace xlc

#endif
