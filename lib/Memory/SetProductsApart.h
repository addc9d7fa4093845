// The calls at a function's end that are a function, and runs, of their own.
#ifndef XLC_LIB_MEMORY_SETPRODUCTSAPART_H
#define XLC_LIB_MEMORY_SETPRODUCTSAPART_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc {

/// What runs beside a function's own runs, on some of its slots.
struct Apart {
  mlir::FlatSymbolRefAttr function;
  llvm::SmallVector<unsigned> slots; ///< by its own: that of the function
};

/// How many calls at the end of a function xlc-set-products-apart has set apart.
int64_t countApart(mlir::func::FuncOp function);

/// Makes a function of a slot function's last calls, of which there are so many. The slots of `function` stay as they are.
Apart splitApart(mlir::func::FuncOp function, int64_t calls);

} // namespace xlc

#endif
