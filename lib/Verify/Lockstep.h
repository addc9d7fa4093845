// How often a call rounds to other bits than the interpreter, which computes in floats and rounds where the graph says so.
//
// Bounds (Expected.h) say that an element may have come about by the kernel's ops; they are silent on how many elements
// that lie near the middle of two numbers of sixteen bits fall to the other side, because sums have another order. Where
// that were many, two layouts of one model would train apart. So they are counted, in ulps of the result's type.
#ifndef XLC_LIB_VERIFY_LOCKSTEP_H
#define XLC_LIB_VERIFY_LOCKSTEP_H

#include "Operands.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Verify/VerifyKernels.h"

namespace xlc::verify {

/// Numbers of sixteen bits between two bit patterns of one such type; 0 for two NaN, and for two numbers below the smallest
/// normal float, which products may take for zero.
int64_t countUlps(uint16_t a, uint16_t b, interpret::Narrow type);

/// Adds to `counts` what `kernel` left in `results`, those of sixteen bits. `isAddedTo`: by result; what a call adds to what
/// was there is not looked at, nor is what is rounded by chance.
llvm::LogicalResult countNarrow(mlir::func::FuncOp kernel, llvm::ArrayRef<Operand> operands,
                                llvm::ArrayRef<Operand> results, llvm::ArrayRef<bool> isAddedTo, NarrowCounts &counts);

} // namespace xlc::verify

#endif
