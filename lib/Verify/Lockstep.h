// Counts how often a call rounds to other bits than the interpreter, which computes in floats and rounds where the
// graph does.
//
// Bounds (Expected.h) prove that an element may be the result of the kernel's ops. They do not limit how many elements
// near the middle of two 16-bit numbers are rounded to the other side, because sums have another order. If there were
// many, two layouts of one model would diverge in training. So they are counted, in ulps of the result's type.
#ifndef XLC_LIB_VERIFY_LOCKSTEP_H
#define XLC_LIB_VERIFY_LOCKSTEP_H

#include "Operands.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Verify/VerifyKernels.h"

namespace xlc::verify {

/// The number of 16-bit numbers between two bit patterns of one such type; 0 for two NaN, and for two numbers below the
/// smallest normal float, which products may treat as zero.
int64_t countUlps(uint16_t a, uint16_t b, interpret::Narrow type);

/// Adds to `counts` the 16-bit results of `kernel` in `results`. `isAddedTo`: by result. Sums that a call adds to
/// stored values are skipped, and so are stochastically rounded results.
llvm::LogicalResult countNarrow(mlir::func::FuncOp kernel, llvm::ArrayRef<Operand> operands,
                                llvm::ArrayRef<Operand> results, llvm::ArrayRef<bool> isAddedTo, NarrowCounts &counts);

} // namespace xlc::verify

#endif
