// From ops of the `graph` dialect on strided memory to what the runtime's library calls take: sizes and strides of
// a batched matrix product, of attention, of a row-wise scatter, of windows. Pure functions of which no target knows more
// than another: a target reads in their answers whether its library takes the call (xlc/Target/Target.h), Emit writes
// them into the plan.
#ifndef XLC_KERNELS_LIBRARYCALLS_H
#define XLC_KERNELS_LIBRARYCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Runtime/LibraryShapes.h"
#include <optional>

namespace xlc {

/// Whether elements are one after the other in row-major order.
bool isContiguous(mlir::MemRefType type);

/// A contraction as y[batch, m, n] = sum over k of a[batch, m, k] b[batch, k, n]. `swapped`: the library's a is the
/// op's second operand and its b the first (so that a bias, or the contiguous dimension of y, lies along n).
struct LibraryContract {
  runtime::ContractShape shape;
  bool swapped = false;
};

/// The product behind an einsum on these layouts; a bias is a vector along the last dimension of y. Letters of
/// one group are flattened where strides allow; of what remains of m or n one is kept, along which y is contiguous if
/// there is one, and the others become batch dimensions. None where the summed letters cannot be flattened to one
/// dimension (an operand has to be copied first), and where the types are none of the library's.
std::optional<LibraryContract> findContractShape(graph::ContractOp op, mlir::MemRefType a, mlir::MemRefType b,
                                                 mlir::MemRefType y, runtime::Epilogue epilogue);

/// Attention on these layouts: memory types in the order of the op's operands, then of its results. None where a
/// feature dimension is not contiguous, lse is not contiguous f64, or the others are not of one type of the library's.
std::optional<runtime::AttentionShape> findAttentionShape(mlir::Operation *op, llvm::ArrayRef<mlir::MemRefType> memory);

/// y[outer, rows, width] += updates[outer, indices, width] at the rows that the indices name. There are `distinct`
/// lists of indices, taken in turn; `perElement`: each has a row for every element along the width.
struct ScatterShape {
  int64_t outer, distinct, indices, rows, width;
  bool perElement;
};

/// For scatter_add and scatter_elements_add: memory of indices, updates and result. None unless all three are
/// contiguous, of f32 beside the indices and, for scatter_add, its dimension is 0.
std::optional<ScatterShape> findScatterShape(mlir::Operation *op, llvm::ArrayRef<mlir::MemRefType> memory);

/// y = base, but for what `kind` makes of updates at the rows that the indices name; otherwise as ScatterShape.
struct ScatterIntoShape {
  graph::Scatter kind;
  ScatterShape shape;
};

/// For scatter_elements: memory of base, indices, updates and result. None unless all are contiguous.
std::optional<ScatterIntoShape> findScatterIntoShape(mlir::Operation *op, llvm::ArrayRef<mlir::MemRefType> memory);

/// A convolution, its transpose or its weights' gradient: memory types of operands, then result. None unless all are
/// contiguous, of one type of the library's.
std::optional<runtime::ConvolutionShape> findConvolutionShape(mlir::Operation *op,
                                                              llvm::ArrayRef<mlir::MemRefType> memory);

/// A maximum over the windows of `planes` planes, or its gradient.
struct PoolShape {
  bool backward;
  int64_t planes;
  std::vector<runtime::WindowDim> dims;
};

/// None unless all are contiguous f32.
std::optional<PoolShape> findPoolShape(mlir::Operation *op, llvm::ArrayRef<mlir::MemRefType> memory);

/// What a library does in a kernel of that kind; null in other kernels.
mlir::Operation *findLibraryOp(mlir::func::FuncOp kernel);

/// Memory of the op's operands and results (xlc::LibraryCall), where that of its kernel's arguments and results is known; of a
/// contraction with an epilogue a, b, y, and what lies beside them.
llvm::SmallVector<mlir::MemRefType> memoryOfLibraryOp(mlir::Operation *op, llvm::ArrayRef<mlir::MemRefType> ins,
                                                      llvm::ArrayRef<mlir::MemRefType> outs);

/// What the kernel of a contraction does with its sums; nothing for other ops.
runtime::Epilogue findEpilogue(mlir::Operation *op);

} // namespace xlc

#endif
