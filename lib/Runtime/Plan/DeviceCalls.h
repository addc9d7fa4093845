// Library calls of the plan that are device code of our own (xlc/Runtime/DeviceKernels.h): which kernel does one, and with what
// parameters. The compiler puts these kernels into a program's images, the program launches them.
#ifndef XLC_LIB_RUNTIME_PLAN_DEVICECALLS_H
#define XLC_LIB_RUNTIME_PLAN_DEVICECALLS_H

#include "Plan.h"

#include "xlc/Runtime/DeviceKernels.h"

#include <string>

namespace xlc::runtime {

struct DeviceScatter {
  std::string kernel;
  ScatterParameters parameters; ///< of a call that clears y first
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
  MaxPoolParameters parameters; ///< of a call that does not add
  int64_t blocks;
};
DevicePool deviceCallOf(const plan::MaxPoolT &pool);

/// Of convolutions, whose steps Cuda/ConvolutionSteps.h says.
inline constexpr const char *columnsKernel = "xlc_columns", *fromColumnsKernel = "xlc_from_columns";

/// Of attention, whose log-sum-exps are f64 in the plan and float32 in the library.
inline constexpr const char *wideStatsKernel = "xlc_convert_f32_f64", *narrowStatsKernel = "xlc_convert_f64_f32";

/// Of attention with a condition beside the scores.
inline constexpr const char *conditionKernel = "xlc_condition";

/// What a program launches for a library call of the plan; none: a library of the vendor's does it, or nobody.
std::vector<std::string> deviceKernelsOf(const plan::KernelT &kernel);

/// Which kernel combines elements of ranks, or makes another type of them.
std::string combineKernelOf(bool isLargest, plan::Element element, plan::Element wire);
std::string convertKernelOf(plan::Element element, plan::Element other);

/// What a program launches for a sum over ranks; none: the vendor's library does it.
std::vector<std::string> deviceKernelsOf(const Plan &plan, const plan::ExchangeT &exchange);

} // namespace xlc::runtime

#endif
