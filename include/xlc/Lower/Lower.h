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
/// On a function in @kernels: independent rows, and the multiple in which callers may cut them.
inline constexpr llvm::StringLiteral kKernelExtent = "exec.extent";
inline constexpr llvm::StringLiteral kKernelGrain = "exec.grain";
/// On one that is for GPUs: how many blocks of how many threads do its work.
inline constexpr llvm::StringLiteral kKernelGrid = "exec.grid";
inline constexpr llvm::StringLiteral kKernelBlock = "exec.block";
/// Name of the nested module that holds the code.
inline constexpr llvm::StringLiteral kKernelModule = "kernels";

/// Calls with equal results share their code: kernel, layouts of the operands, which results are added to.
std::string getSpecialisation(exec::CallOp call);

/// A machine for processors of the host's architecture; `cpu` is LLVM's name of them. Null with `error` set where LLVM
/// has none.
std::unique_ptr<llvm::TargetMachine> createMachine(llvm::StringRef cpu, std::string &error);

/// Expand and emit, for vectors of so many bytes: afterwards the module has @kernels.
void addLoweringPasses(mlir::OpPassManager &passes, int64_t vectorBytes);

/// The functions of @kernels (a copy) as optimised LLVM IR, in their order. Null after a diagnostic.
std::unique_ptr<llvm::Module> translateKernels(mlir::ModuleOp module, llvm::LLVMContext &context,
                                               llvm::TargetMachine &machine, int64_t vectorBytes);

/// A machine for NVIDIA GPUs from compute capability 8.0 on. Null with `error` set where LLVM has none.
std::unique_ptr<llvm::TargetMachine> createGpuMachine(std::string &error);

/// The same of functions for GPUs, for LLVM's NVPTX.
std::unique_ptr<llvm::Module> translateGpuKernels(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                  llvm::TargetMachine &machine);

/// Puts kernels of xlc/Runtime/DeviceKernels.h into code for GPUs, with what they call and nothing else. Fails where there is
/// none of a name.
llvm::LogicalResult linkDeviceKernels(llvm::Module &code, llvm::ArrayRef<llvm::StringRef> names);

/// PTX of code for GPUs.
std::string makePtx(llvm::Module &code, llvm::TargetMachine &machine);
/// PTX of the functions of @kernels and of such kernels; empty after a diagnostic.
std::string makePtx(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> deviceKernels = {});

/// Registers what translateKernels needs in the context's registry.
void registerLowerDialects(mlir::DialectRegistry &registry);

} // namespace xlc

#endif
