// One generated kernel: the request, and the function that emits it.
#ifndef XLC_LIB_LOWER_EMITKERNEL_H
#define XLC_LIB_LOWER_EMITKERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc::lower {

/// A kernel's definition, and the memory layouts of its operands.
struct KernelRequest {
  mlir::func::FuncOp kernel;                  ///< small ops only
  llvm::SmallVector<mlir::MemRefType> memory; ///< of the arguments, then of the results
  llvm::SmallVector<bool> accumulates;        ///< per result: whether a call may add to it
  llvm::SmallVector<int64_t> alignments;      ///< of each memory's first element, in bytes, as far as known
};

/// Rewrites a loop kernel over several dimensions to one dimension, if all of its memory is contiguous and no op
/// depends on the dimensions; the kernel and the memory types change together.
void flattenKernel(KernelRequest &request);

class Mapping;

/// Appends the function `name` to `target`. Fails with a diagnostic if an op has no lowering row, if shapes do not fit
/// the kernel's kind, or if the mapping does not support the kernel.
mlir::LogicalResult emitKernel(mlir::ModuleOp target, llvm::StringRef name, const KernelRequest &request,
                               Mapping &mapping);

} // namespace xlc::lower

#endif
