// All places of a call's operands: those of each run of its function. They determine the common alignment.
#ifndef XLC_LIB_RUNTIME_CUDA_CALLPLACES_H
#define XLC_LIB_RUNTIME_CUDA_CALLPLACES_H

#include "Plan/Plan.h"

#include <unordered_map>
#include <vector>

namespace xlc::runtime::cuda {

class CallPlaces {
public:
  explicit CallPlaces(const Plan &plan);

  /// The alignments of its inputs, then of its results: powers of two up to 256 bytes. Arenas must begin at multiples
  /// of these.
  std::vector<uint32_t> alignmentsOf(const plan::CallT &call) const;

private:
  std::unordered_map<const plan::CallT *, std::vector<uint64_t>>
      addresses; ///< by operand: all address bits; used only for lookups
};

} // namespace xlc::runtime::cuda

#endif
