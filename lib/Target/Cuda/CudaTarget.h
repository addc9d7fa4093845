// NVIDIA's GPUs as a target. Chips are compute capabilities, the library for products is cuBLASLt. No software of
// NVIDIA is called or needed: the operands that its libraries accept are stated here.
#ifndef XLC_LIB_TARGET_CUDA_CUDATARGET_H
#define XLC_LIB_TARGET_CUDA_CUDATARGET_H

#include "xlc/Target/Targets.h"

namespace xlc {

/// "sm_80", the base, and the chips for which programs have separate code.
std::vector<std::string> listCudaChips();

/// Null for an unknown name.
std::unique_ptr<Target> makeCudaTarget(llvm::StringRef chip);

/// The newest chip whose PTX the device compiles.
ChipOfDevice chipOfCudaDevice(const Device &device);

/// Examines the driver, NVIDIA's libraries and the GPUs. Libraries are opened as programs open them.
MachineReport examineCuda();

} // namespace xlc

#endif
