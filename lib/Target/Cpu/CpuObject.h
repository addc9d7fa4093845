// The object file of a program for CPUs.
#ifndef XLC_LIB_TARGET_CPU_CPUOBJECT_H
#define XLC_LIB_TARGET_CPU_CPUOBJECT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBuffer.h"

namespace xlc {

/// The code of @kernels for this chip, with vectors of `vectorBytes` bytes, and the plan. Null after a diagnostic.
std::unique_ptr<llvm::MemoryBuffer> makeCpuObject(mlir::ModuleOp module, llvm::ArrayRef<uint8_t> plan,
                                                  llvm::StringRef chip, int64_t vectorBytes);

} // namespace xlc

#endif
