// What a model says about gradients that are not computed. Import writes it, Differentiate obeys and erases it.
#ifndef XLC_DIALECT_GRAPH_STOPS_H
#define XLC_DIALECT_GRAPH_STOPS_H

#include "xlc/Dialect/Graph/Graph.h"

#define GET_OP_CLASSES
#include "xlc/Dialect/Graph/GraphStops.h.inc"

namespace xlc::graph {

/// Attribute of a gather, an i64: the row of its table (an embedding's `padding_idx`) that gets no gradient from this
/// lookup, whatever else it is used for.
inline constexpr llvm::StringLiteral kPadding = "graph.padding";

/// Whether Differentiate leaves none of these ops, so that tables of later phases have no row for them.
inline bool isGoneAfterDifferentiate(llvm::StringRef op) { return op == StopGradientOp::getOperationName(); }

} // namespace xlc::graph

#endif
