// Kernels for a GPU as code of this machine: the LLVM IR that is passed to NVPTX, in which GPU-only operations (thread
// numbers, exchanges, barriers) and every memory access become calls of the simulated grid (Grid.h). The simulated code
// is therefore the code of the GPU, except for the instructions.
#ifndef XLC_SIMULATE_HOSTIMAGE_H
#define XLC_SIMULATE_HOSTIMAGE_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <string>

namespace xlc::simulate {

/// Converts every kernel of `code` (from translateGpuKernels or linkDeviceKernels) to a function of simulate::Kernel's
/// type, for `machine`. Returns a description of unsupported code, or an empty string.
std::string makeHostImage(llvm::Module &code, const llvm::TargetMachine &machine);

} // namespace xlc::simulate

#endif
