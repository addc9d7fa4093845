// Properties of ops, for code that handles all ops of a kind. A list of ops in a pass would state the property a second
// time, and new ops would be missing from it; a trait is declared on the op.
//
// The first traits state which elements of its operands an op reads for one element of its results. Passes that fuse,
// flatten, vectorise or overwrite depend only on these. An op without a trait may read any element of its operands, so
// a new op is slow until its trait is declared, and never wrong.
#ifndef XLC_DIALECT_GRAPH_TRAITS_H
#define XLC_DIALECT_GRAPH_TRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace xlc::graph {

/// Reads the element at the same indices, of every operand that has the shape of the results. Operands of another shape
/// (the labels of a loss, the scalars of an update) may be read anywhere. See readsOwnElement in Graph.h.
template <typename ConcreteOp> class ReadsOwnElement : public mlir::OpTrait::TraitBase<ConcreteOp, ReadsOwnElement> {};

/// Reads an element whose index along each dimension depends only on the result's index along that dimension (slice,
/// concat, pad), of every operand that has the rank of the result.
template <typename ConcreteOp>
class ReadsOwnDimensions : public mlir::OpTrait::TraitBase<ConcreteOp, ReadsOwnDimensions> {};

/// Each element of the result depends only on the elements at the same indices of all operands, which have its shape.
template <typename ConcreteOp> class Elementwise : public mlir::OpTrait::TraitBase<ConcreteOp, Elementwise> {};

/// Each element of the result is an element of operand 0, at indices that depend only on those of the result.
template <typename ConcreteOp> class Movement : public mlir::OpTrait::TraitBase<ConcreteOp, Movement> {};

/// A movement that uses no element twice: usually, other sizes and strides of the same memory.
template <typename ConcreteOp> class View : public mlir::OpTrait::TraitBase<ConcreteOp, View> {};

/// A movement that neither drops nor permutes elements: the elements of operand 0 in row-major order under another
/// shape, with blocks of them repeated. A property of all elements of the operand also holds for those of the result.
template <typename ConcreteOp> class Reshaping : public mlir::OpTrait::TraitBase<ConcreteOp, Reshaping> {};

/// op(a + b) = op(a) + op(b), where a and b represent all operands together.
template <typename ConcreteOp> class Additive : public mlir::OpTrait::TraitBase<ConcreteOp, Additive> {};

/// Each row (the last dimension) of the result depends only on the same rows of the operands, and on vectors that are
/// shared by all rows.
template <typename ConcreteOp> class Rowwise : public mlir::OpTrait::TraitBase<ConcreteOp, Rowwise> {};

/// Each element of the results is a sum over all rows of operand 0, of values in one column.
template <typename ConcreteOp> class Columnwise : public mlir::OpTrait::TraitBase<ConcreteOp, Columnwise> {};

/// A library has a kernel for the op, if the layout of its operands is one that the library supports.
template <typename ConcreteOp> class LibraryKernel : public mlir::OpTrait::TraitBase<ConcreteOp, LibraryKernel> {};

/// Products of windows with a filter: a convolution or one of its gradients.
template <typename ConcreteOp> class Convolution : public mlir::OpTrait::TraitBase<ConcreteOp, Convolution> {};

/// Attention or its gradients: operands 0, 1 and 2 are q, k and v.
template <typename ConcreteOp> class Attention : public mlir::OpTrait::TraitBase<ConcreteOp, Attention> {};

/// The largest elements of windows, or their gradient.
template <typename ConcreteOp> class MaxPool : public mlir::OpTrait::TraitBase<ConcreteOp, MaxPool> {};

/// Zeros, with updates added at the given indices: the transpose of a gather. Operand 0 is the indices, 1 the updates.
template <typename ConcreteOp> class ScatterAdd : public mlir::OpTrait::TraitBase<ConcreteOp, ScatterAdd> {};

/// The cross entropy of logits (operand 0) and labels (operand 1), or its gradient: labels are compared with classes.
template <typename ConcreteOp> class CrossEntropy : public mlir::OpTrait::TraitBase<ConcreteOp, CrossEntropy> {};

/// Rows of operand 0, normalized and multiplied by a vector, operand 1; result 0 has their shape.
template <typename ConcreteOp> class Norm : public mlir::OpTrait::TraitBase<ConcreteOp, Norm> {};

/// The sum of two operands, each of which may be negated.
template <typename ConcreteOp> class Sum : public mlir::OpTrait::TraitBase<ConcreteOp, Sum> {};

/// The maximum or minimum of two operands. Equal operands share the gradient if kSharesTies is set.
template <typename ConcreteOp> class Extremum : public mlir::OpTrait::TraitBase<ConcreteOp, Extremum> {};

/// A number that is stored by the program and not computed by a kernel.
template <typename ConcreteOp> class Held : public mlir::OpTrait::TraitBase<ConcreteOp, Held> {};

/// Whether an op computes nothing: a constant, or a rearrangement of the elements of a value. Duplicating it costs no
/// more than reading its operand.
inline bool computesNothing(mlir::Operation *op) { return op->getNumOperands() == 0 || op->hasTrait<Movement>(); }

} // namespace xlc::graph

#endif
