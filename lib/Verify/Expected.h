// The expected results of a kernel, with bounds: its ops, evaluated by the interpreter on bounded numbers.
//
// Bounded numbers take eight times the bytes of floats. A kernel that works element by element on very many elements
// (an optimizer's update of an embedding) is evaluated piece by piece, on all cores.
#ifndef XLC_LIB_VERIFY_EXPECTED_H
#define XLC_LIB_VERIFY_EXPECTED_H

#include "Operands.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>

namespace xlc::verify {

/// The expected results of a kernel, or a piece of them.
struct Expected {
  llvm::SmallVector<Datum<Bounded>> results;
  int64_t first = 0;         ///< the element of each result with which the piece begins
  int64_t openDecisions = 0; ///< comparisons on the way that rounding could turn
};

class Kernels {
public:
  /// Evaluates a kernel on operands in memory and passes its results to `take`, pieces from several threads. Fails
  /// after a diagnostic.
  llvm::LogicalResult evaluate(mlir::func::FuncOp kernel, llvm::ArrayRef<Operand> operands,
                               llvm::function_ref<void(const Expected &)> take);

private:
  llvm::LogicalResult evaluateInPieces(mlir::func::FuncOp kernel, llvm::ArrayRef<Operand> operands, int64_t elements,
                                       llvm::function_ref<void(const Expected &)> take);
  mlir::func::FuncOp findCut(mlir::func::FuncOp kernel, int64_t elements, int64_t piece);

  /// Kernels on pieces, by the kernel and their number of elements.
  std::map<std::pair<mlir::Operation *, int64_t>, mlir::OwningOpRef<mlir::func::FuncOp>> cuts; // looked up only
};

} // namespace xlc::verify

#endif
