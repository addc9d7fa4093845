// The cost table: one row per op that is not merely elementwise. Each row names the rule that counts the FLOPs.
#ifndef XLC_LIB_ESTIMATE_COSTTABLE_H
#define XLC_LIB_ESTIMATE_COSTTABLE_H

#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Support/Quantity.h"

namespace xlc {

struct CostRow {
  llvm::StringLiteral op;
  Quantity (*flops)(mlir::Operation *);
  bool isMatrix = false; ///< counts as a matrix product
};

/// Returns the row of an op, the row of all elementwise ops, or null.
const CostRow *findCostRow(mlir::OperationName op);

} // namespace xlc

#endif
