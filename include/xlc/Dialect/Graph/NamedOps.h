// Named ops, and the small ops that each stands for: one row per op in NamedOps.cpp. Lower emits a named op by its
// formula; the interpreter, the gradients and the cost of an op without rows of its own follow from it too.
#ifndef XLC_DIALECT_GRAPH_NAMEDOPS_H
#define XLC_DIALECT_GRAPH_NAMEDOPS_H

#include "xlc/Dialect/Graph/Graph.h"

namespace xlc::graph {

/// Whether the op of this name stands for small ops.
bool hasFormula(llvm::StringRef opName);

/// Whether the op is made by Differentiate or behind it. Nobody asks for its gradient: no second derivatives are taken.
bool isMadeByBackward(mlir::OperationName op);

/// Writes the small ops that `op`, which has a formula, stands for, before it; returns what its results are. The op
/// stays as it is.
llvm::SmallVector<mlir::Value, 3> writeFormula(mlir::Operation *op);

/// Replaces a named op by its small ops; leaves other ops alone.
void expandNamedOp(mlir::Operation *op);

} // namespace xlc::graph

#endif
