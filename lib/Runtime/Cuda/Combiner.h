// What ranks have, combined and converted by kernels of the program (xlc/Runtime/DeviceKernels.h): for sums that NCCL does not do.
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
  /// For the sums of a stage's programs, whose code this is. Throws DeviceFailure where it lacks one.
  Combiner(const Driver &driver, const Plan &plan, uint32_t stage, Library code);

  /// Put into the stream.
  void combine(const Combination &combination, Stream stream) const;
  void convert(const Conversion &conversion, Stream stream) const;

private:
  const Driver &driver;
  std::map<std::tuple<Combine, plan::Element, plan::Element>, Function> sums; ///< by elements and those on the wire
  std::map<std::pair<plan::Element, plan::Element>, Function> conversions;    ///< from, to
};

} // namespace xlc::runtime::cuda

#endif
