// NVIDIA's GPUs as a target. Chips are compute capabilities, the library for products is cuBLASLt. Nothing of NVIDIA's is
// asked or needed: what its libraries take is stated here.
#ifndef XLC_LIB_TARGET_CUDA_CUDATARGET_H
#define XLC_LIB_TARGET_CUDA_CUDATARGET_H

#include "xlc/Target/Targets.h"

namespace xlc {

/// "sm_80", the base, and those that programs have code of their own for.
std::vector<std::string> listCudaChips();

/// Null for another name.
std::unique_ptr<Target> makeCudaTarget(llvm::StringRef chip);

/// The newest chip whose PTX the device compiles.
ChipOfDevice chipOfCudaDevice(const Device &device);

/// The driver, NVIDIA's libraries and the GPUs. Libraries are opened as programs open them.
MachineReport examineCuda();

} // namespace xlc

#endif
