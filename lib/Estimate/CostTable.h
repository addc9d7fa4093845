// The cost table: one row per op that is not merely elementwise, each naming the rule that counts its FLOPs.
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

/// The row of an op, or that of all elementwise ops, or null.
const CostRow *findCostRow(mlir::OperationName op);

} // namespace xlc

#endif
