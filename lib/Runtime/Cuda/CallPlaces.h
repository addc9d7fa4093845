// Where a call's operands ever are: at each run of its function the places of that run, and so with a common alignment.
#ifndef XLC_LIB_RUNTIME_CUDA_CALLPLACES_H
#define XLC_LIB_RUNTIME_CUDA_CALLPLACES_H

#include "Plan/Plan.h"

#include <unordered_map>
#include <vector>

namespace xlc::runtime::cuda {

class CallPlaces {
public:
  explicit CallPlaces(const Plan &plan);

  /// Of its ins, then its outs: powers of two up to 256 bytes, where arenas begin at multiples of these.
  std::vector<uint32_t> alignmentsOf(const plan::CallT &call) const;

private:
  std::unordered_map<const plan::CallT *, std::vector<uint64_t>>
      addresses; ///< all bits of an operand's; looked up only
};

} // namespace xlc::runtime::cuda

#endif
