// Stopped gradients: Import marks them, and Differentiate follows and erases the marks.
#ifndef XLC_DIALECT_GRAPH_STOPS_H
#define XLC_DIALECT_GRAPH_STOPS_H

#include "xlc/Dialect/Graph/Graph.h"

#define GET_OP_CLASSES
#include "xlc/Dialect/Graph/GraphStops.h.inc"

namespace xlc::graph {

/// Attribute of a gather, an i64: the row of its table (an embedding's `padding_idx`) that receives no gradient from
/// this lookup. Other uses of the row are not affected.
inline constexpr llvm::StringLiteral kPadding = "graph.padding";

/// Whether Differentiate removes all ops of this kind, so that tables of later phases need no row for them.
inline bool isGoneAfterDifferentiate(llvm::StringRef op) { return op == StopGradientOp::getOperationName(); }

} // namespace xlc::graph

#endif
