// The object file of a program for NVIDIA's GPUs: images (PTX, and cubins if ptxas is found) and the plan. It contains
// no code that runs on the host.
#ifndef XLC_LIB_TARGET_CUDA_CUDAOBJECT_H
#define XLC_LIB_TARGET_CUDA_CUDAOBJECT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBuffer.h"

namespace xlc::plan {
struct PlanT; // Plan_generated.h
} // namespace xlc::plan

namespace xlc {

/// @kernels and the other kernels that the plan launches as PTX and, if ptxas is found, as cubins for these chips, and
/// the plan. Null after a diagnostic.
std::unique_ptr<llvm::MemoryBuffer> makeCudaObject(mlir::ModuleOp module, llvm::ArrayRef<uint8_t> plan,
                                                   llvm::ArrayRef<std::string> chips);

/// The same code for the simulated device (lib/Simulate/Libraries). Null after a diagnostic.
std::unique_ptr<llvm::MemoryBuffer> makeCudaSimulatorObject(mlir::ModuleOp module, const plan::PlanT &plan);

} // namespace xlc

#endif
