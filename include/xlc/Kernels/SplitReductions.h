// Sums over columns and over all elements as sums of sums. They have few results, and many threads share them only where
// chunks of rows, or of elements, have one each; so a kernel that reduces becomes two, as far as the target wants it:
//
//     columns   x [R, C]  ->  partial [K, C], a chunk of R / K rows each  ->  y [C]
//     all       x [N]     ->  partial [K], a row of N / K elements each   ->  y []
//
//     rows      x [R, C]  ->  what it has for each row, and partial [K, C] of those columns that it sums on its way
//
// Partial sums are values of the unit like any other: planned, proved, and there from one kernel to the next. How many chunks
// there are follows from the shape and the sort of target, so bits depend neither on the device nor on how many threads there are.
#ifndef XLC_KERNELS_SPLITREDUCTIONS_H
#define XLC_KERNELS_SPLITREDUCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Target/Target.h"
#include <optional>

namespace xlc {

struct SplitKernel {
  mlir::func::FuncOp partial; ///< gives the partial sums
  /// Which arguments of the kernel as it was both read: of the partial one, and of the rest, before the partial sums.
  llvm::SmallVector<unsigned> ofPartial, ofRest;
};

/// Into how many chunks a kernel over rows cuts them that sums their columns on its way; 1: it does not.
int64_t chooseCarriedChunks(int64_t rows, int64_t columns, FewestSummed fewest);

/// Makes of a kernel that reduces over columns or all elements what remains to be done with partial sums, and a kernel before it
/// that makes those. None, and nothing is changed, where the kernel has too few elements for that, or a size that has no
/// divisor to cut it by.
std::optional<SplitKernel> splitReductions(mlir::func::FuncOp kernel, FewestSummed fewest);

} // namespace xlc

#endif
