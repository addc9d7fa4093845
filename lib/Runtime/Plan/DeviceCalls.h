// Library calls of the plan that xlc's own device code implements (xlc/Runtime/DeviceKernels.h): the kernel of each,
// and its parameters. The compiler adds these kernels to the images of a program, and the program launches them.
#ifndef XLC_LIB_RUNTIME_PLAN_DEVICECALLS_H
#define XLC_LIB_RUNTIME_PLAN_DEVICECALLS_H

#include "Plan.h"

#include "xlc/Runtime/DeviceKernels.h"

#include <string>

namespace xlc::runtime {

struct DeviceScatter {
  std::string kernel;
  ScatterParameters parameters; ///< for a call that clears y first
  int64_t blocks;
};
DeviceScatter deviceCallOf(const plan::ScatterAddT &scatter);

struct DeviceScatterInto {
  std::string kernel;
  ScatterIntoParameters parameters;
  int64_t blocks;
};
DeviceScatterInto deviceCallOf(const plan::ScatterIntoT &scatter);

struct DevicePool {
  std::string kernel;
  MaxPoolParameters parameters; ///< for a call that does not add
  int64_t blocks;
};
DevicePool deviceCallOf(const plan::MaxPoolT &pool);

/// Kernels of convolutions, whose steps are defined in Cuda/ConvolutionSteps.h.
inline constexpr const char *columnsKernel = "xlc_columns", *fromColumnsKernel = "xlc_from_columns";

/// Kernels of attention, whose log-sum-exps are f64 in the plan and float32 in the library.
inline constexpr const char *wideStatsKernel = "xlc_convert_f32_f64", *narrowStatsKernel = "xlc_convert_f64_f32";

/// The kernel of attention with a condition in addition to the scores.
inline constexpr const char *conditionKernel = "xlc_condition";

/// The kernels that a program launches for a library call of the plan; none: a library of the vendor implements it, or
/// nothing is needed.
std::vector<std::string> deviceKernelsOf(const plan::KernelT &kernel);

/// The kernel that combines elements of ranks, or converts them to another type.
std::string combineKernelOf(bool isLargest, plan::Element element, plan::Element wire);
std::string convertKernelOf(plan::Element element, plan::Element other);

/// The kernels that a program launches for a sum over ranks; none: the vendor's library implements it.
std::vector<std::string> deviceKernelsOf(const Plan &plan, const plan::ExchangeT &exchange);

} // namespace xlc::runtime

#endif
