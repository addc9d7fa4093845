// What an op is to those who ask about all ops of its sort. A list of ops in a pass is a fact in a second place, which the
// next op is forgotten in; a trait stands at the op.
//
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

/// Each element of the result follows from the elements at the same indices of all operands, which have its shape.
template <typename ConcreteOp> class Elementwise : public mlir::OpTrait::TraitBase<ConcreteOp, Elementwise> {};

/// Each element of the result is one of operand 0, at indices that follow from those of the result alone.
template <typename ConcreteOp> class Movement : public mlir::OpTrait::TraitBase<ConcreteOp, Movement> {};

/// A movement that takes no element twice: mostly, other sizes and strides of the same memory.
template <typename ConcreteOp> class View : public mlir::OpTrait::TraitBase<ConcreteOp, View> {};

/// op(a + b) = op(a) + op(b), where a and b stand for all operands at once.
template <typename ConcreteOp> class Additive : public mlir::OpTrait::TraitBase<ConcreteOp, Additive> {};

/// Each row (the last dimension) of the result follows from the same rows of the operands, and from vectors that all rows
/// share.
template <typename ConcreteOp> class Rowwise : public mlir::OpTrait::TraitBase<ConcreteOp, Rowwise> {};

/// A library has a kernel for it, where its operands lie as the library wants them.
template <typename ConcreteOp> class LibraryKernel : public mlir::OpTrait::TraitBase<ConcreteOp, LibraryKernel> {};

/// Products of windows with a filter: a convolution or one of its gradients.
template <typename ConcreteOp> class Convolution : public mlir::OpTrait::TraitBase<ConcreteOp, Convolution> {};

/// Whether an op computes nothing: a constant, or another arrangement of a value's elements. A copy of it costs no more
/// than reading what it reads.
inline bool computesNothing(mlir::Operation *op) { return op->getNumOperands() == 0 || op->hasTrait<Movement>(); }

} // namespace xlc::graph

#endif
