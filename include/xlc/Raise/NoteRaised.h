// The output of `plan -v` about raising: the raised ops, and patterns that were similar but not raised.
#ifndef XLC_RAISE_NOTERAISED_H
#define XLC_RAISE_NOTERAISED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc {

/// Prints one line for all raised ops, and one for each kind of attention that was not raised, with its cost.
void noteRaised(mlir::func::FuncOp forward, llvm::raw_ostream &notes);

} // namespace xlc

#endif
