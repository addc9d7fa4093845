// Named ops and their formulas in small ops: one row per op in NamedOps.cpp. Lower emits a named op by its formula. If
// an op has no rows of its own, the interpreter, its gradients and its cost also follow from the formula.
#ifndef XLC_DIALECT_GRAPH_NAMEDOPS_H
#define XLC_DIALECT_GRAPH_NAMEDOPS_H

#include "xlc/Dialect/Graph/Graph.h"

namespace xlc::graph {

/// Whether the op of this name has a formula.
bool hasFormula(llvm::StringRef opName);

/// Whether the op is created by Differentiate or a later phase. Such an op has no gradient, because there are no second
/// derivatives.
bool isMadeByBackward(mlir::OperationName op);

/// Builds the formula of `op`, which must have one, before it, and returns the values of its results. `op` is
/// unchanged.
llvm::SmallVector<mlir::Value, 3> writeFormula(mlir::Operation *op);

/// Replaces a named op by its formula. Other ops are unchanged.
void expandNamedOp(mlir::Operation *op);

} // namespace xlc::graph

#endif
