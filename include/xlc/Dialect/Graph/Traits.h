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

/// A movement that drops and permutes nothing: the elements of operand 0 in row-major order under another shape, blocks of
/// them repeated. What all elements of the operand have in common, those of the result have.
template <typename ConcreteOp> class Reshaping : public mlir::OpTrait::TraitBase<ConcreteOp, Reshaping> {};

/// op(a + b) = op(a) + op(b), where a and b stand for all operands at once.
template <typename ConcreteOp> class Additive : public mlir::OpTrait::TraitBase<ConcreteOp, Additive> {};

/// Each row (the last dimension) of the result follows from the same rows of the operands, and from vectors that all rows
/// share.
template <typename ConcreteOp> class Rowwise : public mlir::OpTrait::TraitBase<ConcreteOp, Rowwise> {};

/// Each element of the results is a sum over all rows of operand 0, of what one column has there.
template <typename ConcreteOp> class Columnwise : public mlir::OpTrait::TraitBase<ConcreteOp, Columnwise> {};

/// A library has a kernel for it, where its operands lie as the library wants them.
template <typename ConcreteOp> class LibraryKernel : public mlir::OpTrait::TraitBase<ConcreteOp, LibraryKernel> {};

/// Products of windows with a filter: a convolution or one of its gradients.
template <typename ConcreteOp> class Convolution : public mlir::OpTrait::TraitBase<ConcreteOp, Convolution> {};

/// Attention or its gradients: operands 0, 1 and 2 are q, k and v.
template <typename ConcreteOp> class Attention : public mlir::OpTrait::TraitBase<ConcreteOp, Attention> {};

/// The largest elements of windows, or their gradient.
template <typename ConcreteOp> class MaxPool : public mlir::OpTrait::TraitBase<ConcreteOp, MaxPool> {};

/// Zeros, to which updates are added where indices say: the transpose of a gather. Operand 0 is the indices, 1 the updates.
template <typename ConcreteOp> class ScatterAdd : public mlir::OpTrait::TraitBase<ConcreteOp, ScatterAdd> {};

/// The cross entropy of logits (operand 0) and labels (operand 1), or its gradient: labels are compared with classes.
template <typename ConcreteOp> class CrossEntropy : public mlir::OpTrait::TraitBase<ConcreteOp, CrossEntropy> {};

/// Rows of operand 0 brought to one size and multiplied by a vector, operand 1; result 0 has their shape.
template <typename ConcreteOp> class Norm : public mlir::OpTrait::TraitBase<ConcreteOp, Norm> {};

/// The sum of two operands, each as it is or negated.
template <typename ConcreteOp> class Sum : public mlir::OpTrait::TraitBase<ConcreteOp, Sum> {};

/// The larger or the smaller of two operands, which share the gradient where they are equal and kSharesTies is set.
template <typename ConcreteOp> class Extremum : public mlir::OpTrait::TraitBase<ConcreteOp, Extremum> {};

/// A number that the program holds: no kernel computes it.
template <typename ConcreteOp> class Held : public mlir::OpTrait::TraitBase<ConcreteOp, Held> {};

/// Whether an op computes nothing: a constant, or another arrangement of a value's elements. A copy of it costs no more
/// than reading what it reads.
inline bool computesNothing(mlir::Operation *op) { return op->getNumOperands() == 0 || op->hasTrait<Movement>(); }

} // namespace xlc::graph

#endif
