// What `plan -v` says about raising: which ops stand for patterns, and what looked like one and did not become one.
#ifndef XLC_RAISE_NOTERAISED_H
#define XLC_RAISE_NOTERAISED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc {

/// One line for all that is whole, and one for each kind of attention that is not, with what it costs.
void noteRaised(mlir::func::FuncOp forward, llvm::raw_ostream &notes);

} // namespace xlc

#endif
