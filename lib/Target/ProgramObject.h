// The object file of a program: what Kernel.h declares, beside the code.
//
//     xlc_kernels[]  xlc_kernel_count     addresses of kernels for CPUs, in the order of @kernels
//     xlc_images[]   xlc_image_count      code for GPUs
//     xlc_plan[]     xlc_plan_size        the plan's bytes
//     xlc_plan_checksum                   XXH3 of these
#ifndef XLC_LIB_TARGET_PROGRAMOBJECT_H
#define XLC_LIB_TARGET_PROGRAMOBJECT_H

#include "mlir/IR/Location.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

namespace xlc {

/// Code for a GPU: PTX for "compute_80", a cubin for "sm_90".
struct GpuImage {
  std::string chip, bytes;
};

struct ProgramTables {
  llvm::ArrayRef<llvm::Function *> kernels; ///< of the module
  llvm::ArrayRef<GpuImage> images;
  llvm::ArrayRef<uint8_t> plan;
};

/// Creates the object file of `code` with the tables added; the linker sees no other symbols of it. Null after a
/// diagnostic.
std::unique_ptr<llvm::MemoryBuffer> makeProgramObject(llvm::Module &code, const ProgramTables &tables,
                                                      llvm::TargetMachine &machine, mlir::Location loc);

/// The object file of `code` as it is. Null after a diagnostic.
std::unique_ptr<llvm::MemoryBuffer> assemble(llvm::Module &code, llvm::TargetMachine &machine, mlir::Location loc);

} // namespace xlc

#endif
