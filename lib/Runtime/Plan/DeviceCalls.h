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

/// What a program launches for a library call of the plan; none: a library of the vendor's does it, or nobody.
std::vector<std::string> deviceKernelsOf(const plan::KernelT &kernel);

} // namespace xlc::runtime

#endif
