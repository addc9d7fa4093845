// Splits sums over columns and over all elements into sums of partial sums. Such sums have few results, and many
// threads can share them only by chunks of rows, or of elements. A reducing kernel therefore becomes two, if the target
// requires it:
//     columns   x [R, C]  ->  partial [K, C], a chunk of R / K rows each  ->  y [C]
//     all       x [N]     ->  partial [K], a row of N / K elements each   ->  y []
//
//     rows      x [R, C]  ->  its results for each row, and partial [K, C] of the columns that it also sums
//
// Partial sums are ordinary values of the unit: planned, verified, and live from one kernel to the next. The number of
// chunks follows from the shape and the type of target, so bits depend neither on the device nor on the number of
// threads.
#ifndef XLC_KERNELS_SPLITREDUCTIONS_H
#define XLC_KERNELS_SPLITREDUCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Target/Target.h"
#include <optional>

namespace xlc {

struct SplitKernel {
  mlir::func::FuncOp partial; ///< computes the partial sums
  /// The arguments of the original kernel that each kernel reads: the partial one, and the rest, before the partial
  /// sums.
  llvm::SmallVector<unsigned> ofPartial, ofRest;
};

/// The number of chunks of rows for a kernel over rows that also sums their columns; 1: it does not sum them.
int64_t chooseCarriedChunks(int64_t rows, int64_t columns, FewestSummed fewest);

/// Splits a kernel that reduces over columns or all elements into a kernel that makes partial sums and a kernel after
/// it that combines them. None, without a change, if the kernel has too few elements, or a size without a suitable
/// divisor.
std::optional<SplitKernel> splitReductions(mlir::func::FuncOp kernel, FewestSummed fewest);

} // namespace xlc

#endif
