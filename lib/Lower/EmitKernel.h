// One generated kernel: what is asked for, and the function that answers.
#ifndef XLC_LIB_LOWER_EMITKERNEL_H
#define XLC_LIB_LOWER_EMITKERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc::lower {

/// A kernel's meaning, and where its operands stand in memory.
struct KernelRequest {
  mlir::func::FuncOp kernel;                  ///< small ops only
  llvm::SmallVector<mlir::MemRefType> memory; ///< of the arguments, then of the results
  llvm::SmallVector<bool> accumulates;        ///< per result: whether a call may add to it
  llvm::SmallVector<int64_t> alignments;      ///< of each memory's first element, in bytes, as far as known
};

/// Makes a loop kernel over several dimensions one over one dimension where all of its memory is contiguous and no op
/// cares; the kernel and the memory types change together.
void flattenKernel(KernelRequest &request);

class Mapping;

/// Appends the function `name` to `target`. Fails with a diagnostic at an op without a lowering row, where shapes
/// do not fit the kernel's kind, and where the mapping has no code for it.
mlir::LogicalResult emitKernel(mlir::ModuleOp target, llvm::StringRef name, const KernelRequest &request,
                               Mapping &mapping);

} // namespace xlc::lower

#endif
