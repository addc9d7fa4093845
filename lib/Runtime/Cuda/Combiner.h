// Combines and converts elements of ranks by kernels of the program (xlc/Runtime/DeviceKernels.h), for sums that NCCL
// does not support.
#ifndef XLC_LIB_RUNTIME_CUDA_COMBINER_H
#define XLC_LIB_RUNTIME_CUDA_COMBINER_H

#include "Driver.h"
#include "Fabric/Mover.h"
#include "Plan/Plan.h"

#include <map>
#include <tuple>
#include <utility>

namespace xlc::runtime::cuda {

class Combiner {
public:
  /// Creates a combiner for the sums of a stage's programs. `code` is their code. Throws DeviceFailure if it lacks a
  /// kernel.
  Combiner(const Driver &driver, const Plan &plan, uint32_t stage, Library code);

  /// Enqueues a combination on the stream.
  void combine(const Combination &combination, Stream stream) const;
  void convert(const Conversion &conversion, Stream stream) const;

private:
  const Driver &driver;
  std::map<std::tuple<Combine, plan::Element, plan::Element>, Function>
      sums; ///< by types of elements and of transmitted elements
  std::map<std::pair<plan::Element, plan::Element>, Function> conversions; ///< by source and target type
};

} // namespace xlc::runtime::cuda

#endif
