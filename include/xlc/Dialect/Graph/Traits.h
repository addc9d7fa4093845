// Where an op finds the elements that it needs for one element of its results. Whoever fuses, flattens, vectorises or
// overwrites asks this and nothing else; an op without a trait may read any element of its operands, so a new op
// is slow before it is declared, and never wrong.
#ifndef XLC_DIALECT_GRAPH_TRAITS_H
#define XLC_DIALECT_GRAPH_TRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace xlc::graph {

/// The element at the same indices, of every operand that has the shape of the results. Operands of another shape
/// (the labels of a loss, the scalars of an update) may be read anywhere. See readsOwnElement in Graph.h.
template <typename ConcreteOp> class ReadsOwnElement : public mlir::OpTrait::TraitBase<ConcreteOp, ReadsOwnElement> {};

/// An element whose index along each dimension follows from the result's index along that dimension alone (slice,
/// concat, pad), of every operand that has the rank of the result.
template <typename ConcreteOp>
class ReadsOwnDimensions : public mlir::OpTrait::TraitBase<ConcreteOp, ReadsOwnDimensions> {};

} // namespace xlc::graph

#endif
