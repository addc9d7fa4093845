// Shape checks that the verifiers of several ops share.
#ifndef XLC_LIB_DIALECT_GRAPH_VERIFYSHAPES_H
#define XLC_LIB_DIALECT_GRAPH_VERIFYSHAPES_H

#include "xlc/Dialect/Graph/Graph.h"

namespace xlc::graph {

/// Verifies that `value` has exactly the shape `shape`; the error names the value by its meaning.
llvm::LogicalResult expectShape(mlir::Operation *op, llvm::StringRef what, mlir::Value value,
                                llvm::ArrayRef<int64_t> shape);

} // namespace xlc::graph

#endif
