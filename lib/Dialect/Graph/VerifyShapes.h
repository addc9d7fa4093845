// What verifiers ask of several ops.
#ifndef XLC_LIB_DIALECT_GRAPH_VERIFYSHAPES_H
#define XLC_LIB_DIALECT_GRAPH_VERIFYSHAPES_H

#include "xlc/Dialect/Graph/Graph.h"

namespace xlc::graph {

/// `value` has exactly `shape`, or an error that names what it is.
llvm::LogicalResult expectShape(mlir::Operation *op, llvm::StringRef what, mlir::Value value,
                                llvm::ArrayRef<int64_t> shape);

} // namespace xlc::graph

#endif
