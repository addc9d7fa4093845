// Kernels for a GPU as code of this machine: the LLVM IR that NVPTX gets, with what only a GPU can do (thread numbers,
// exchanges, barriers) and every access to memory as calls of the simulated grid (Grid.h). So what runs here is what would
// run there, but for the instructions.
#ifndef XLC_SIMULATE_HOSTIMAGE_H
#define XLC_SIMULATE_HOSTIMAGE_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <string>

namespace xlc::simulate {

/// Makes of every kernel of `code` (of translateGpuKernels or linkDeviceKernels) a function of simulate::Kernel's type, for `machine`. Returns what
/// cannot be simulated, or nothing.
std::string makeHostImage(llvm::Module &code, const llvm::TargetMachine &machine);

} // namespace xlc::simulate

#endif
