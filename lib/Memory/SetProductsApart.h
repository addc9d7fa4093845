// Splits the last calls of a function into a function of their own, with its own runs.
#ifndef XLC_LIB_MEMORY_SETPRODUCTSAPART_H
#define XLC_LIB_MEMORY_SETPRODUCTSAPART_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc {

/// A part that runs beside a function's own runs, on some of its slots.
struct Apart {
  mlir::FlatSymbolRefAttr function;
  llvm::SmallVector<unsigned> slots; ///< by its own: that of the function
};

/// The number of calls at the end of a function that xlc-set-products-apart has set apart.
int64_t countApart(mlir::func::FuncOp function);

/// Moves the last `calls` calls of a slot function to a new function. The slots of `function` do not change.
Apart splitApart(mlir::func::FuncOp function, int64_t calls);

} // namespace xlc

#endif
