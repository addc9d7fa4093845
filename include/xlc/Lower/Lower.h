// The phase Lower: from kernel functions of `graph` ops to machine code for CPUs, and to PTX for NVIDIA GPUs.
#ifndef XLC_LOWER_LOWER_H
#define XLC_LOWER_LOWER_H

#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Kernels/Kernels.h"

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace xlc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/Lower/Passes.h.inc"

/// On a call of a generated kernel: its function in @kernels.
inline constexpr llvm::StringLiteral kKernelCode = "exec.code";
/// On a function in @kernels: the number of independent rows, and the multiple at which callers may cut them.
inline constexpr llvm::StringLiteral kKernelExtent = "exec.extent";
inline constexpr llvm::StringLiteral kKernelGrain = "exec.grain";
/// On a function for GPUs: the number of its blocks, and of the threads of each block.
inline constexpr llvm::StringLiteral kKernelGrid = "exec.grid";
inline constexpr llvm::StringLiteral kKernelBlock = "exec.block";
/// Name of the nested module with the code.
inline constexpr llvm::StringLiteral kKernelModule = "kernels";

/// A key of the code of a call: kernel, layouts of the operands, accumulated results. Calls with equal keys share their
/// code.
std::string getSpecialisation(exec::CallOp call);

/// A machine for processors of the host's architecture; `cpu` is LLVM's name for them. Null, with `error` set, if LLVM
/// does not support it.
std::unique_ptr<llvm::TargetMachine> createMachine(llvm::StringRef cpu, std::string &error);

/// Adds the passes that expand and emit kernels, for vectors of `vectorBytes` bytes. Afterwards the module has
/// @kernels.
void addLoweringPasses(mlir::OpPassManager &passes, int64_t vectorBytes);

/// The functions of @kernels (a copy) as optimised LLVM IR, in their order. Null after a diagnostic.
std::unique_ptr<llvm::Module> translateKernels(mlir::ModuleOp module, llvm::LLVMContext &context,
                                               llvm::TargetMachine &machine, int64_t vectorBytes);

/// A machine for NVIDIA GPUs from compute capability 8.0 on. Null, with `error` set, if LLVM does not support it.
std::unique_ptr<llvm::TargetMachine> createGpuMachine(std::string &error);

/// The same of functions for GPUs, for LLVM's NVPTX.
std::unique_ptr<llvm::Module> translateGpuKernels(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                  llvm::TargetMachine &machine);

/// Links kernels of xlc/Runtime/DeviceKernels.h into code for GPUs, with only the functions that they call. Fails if
/// there is no kernel of a name.
llvm::LogicalResult linkDeviceKernels(llvm::Module &code, llvm::ArrayRef<llvm::StringRef> names);

/// PTX of code for GPUs.
std::string makePtx(llvm::Module &code, llvm::TargetMachine &machine);
/// PTX of the functions of @kernels and of these kernels; empty after a diagnostic.
std::string makePtx(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> deviceKernels = {});

/// Registers the dialects that translateKernels requires.
void registerLowerDialects(mlir::DialectRegistry &registry);

} // namespace xlc

#endif
