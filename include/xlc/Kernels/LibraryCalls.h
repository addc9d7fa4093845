// From ops of the `graph` dialect on strided memory to the arguments of the runtime's library calls: sizes and strides
// of a batched matrix product, of attention, of a row-wise scatter, of windows. Pure functions that are independent of
// targets. A target decides from their results whether its library supports the call (xlc/Target/Target.h); Emit writes
// them into the plan.
#ifndef XLC_KERNELS_LIBRARYCALLS_H
#define XLC_KERNELS_LIBRARYCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Runtime/LibraryShapes.h"
#include <optional>

namespace xlc {

/// Whether the elements are contiguous in row-major order.
bool isContiguous(mlir::MemRefType type);

/// A contraction as y[batch, m, n] = sum over k of a[batch, m, k] b[batch, k, n]. `swapped`: the library's a is the
/// op's second operand and its b the first (so that a bias, or the contiguous dimension of y, lies along n).
struct LibraryContract {
  runtime::ContractShape shape;
  bool swapped = false;
};

/// The product of an einsum on these layouts; a bias is a vector along the last dimension of y. Letters of one group
/// are flattened where strides allow. Of the remaining letters of m or n one is kept, along which y is contiguous if
/// there is one, and the others become batch dimensions. None if the summed letters cannot be flattened to one
/// dimension (an operand must be copied first), or if the library does not support the types.
std::optional<LibraryContract> findContractShape(graph::ContractOp op, mlir::MemRefType a, mlir::MemRefType b,
                                                 mlir::MemRefType y, runtime::Epilogue epilogue);

/// Attention on these layouts: memory types in the order of the op's operands, then of its results. None if a feature
/// dimension is not contiguous, lse is not contiguous f64, or the others do not have a single type that the library
/// supports.
std::optional<runtime::AttentionShape> findAttentionShape(mlir::Operation *op, llvm::ArrayRef<mlir::MemRefType> memory);

/// y[outer, rows, width] += updates[outer, indices, width] at the rows given by the indices. There are `distinct` lists
/// of indices, used in turn; `perElement`: each has a row for every element along the width.
struct ScatterShape {
  int64_t outer, distinct, indices, rows, width;
  bool perElement;
};

/// For scatter_add and scatter_elements_add: memory of indices, updates and result. None unless all three are
/// contiguous, all but the indices are f32 and, for scatter_add, its dimension is 0.
std::optional<ScatterShape> findScatterShape(mlir::Operation *op, llvm::ArrayRef<mlir::MemRefType> memory);

/// y = base, with the rows given by the indices combined with updates by `kind`; otherwise as ScatterShape.
struct ScatterIntoShape {
  graph::Scatter kind;
  ScatterShape shape;
};

/// For scatter_elements: memory of base, indices, updates and result. None unless all are contiguous.
std::optional<ScatterIntoShape> findScatterIntoShape(mlir::Operation *op, llvm::ArrayRef<mlir::MemRefType> memory);

/// A convolution, its transpose or its weights' gradient: memory types of operands, then result. None unless all are
/// contiguous, of a single type that the library supports.
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

/// The op that a library executes in a library kernel; null for other kernels.
mlir::Operation *findLibraryOp(mlir::func::FuncOp kernel);

/// Memory of the op's operands and results (xlc::LibraryCall), given that of its kernel's arguments and results. For a
/// contraction with an epilogue: a, b, y, and then the additional matrix.
llvm::SmallVector<mlir::MemRefType> memoryOfLibraryOp(mlir::Operation *op, llvm::ArrayRef<mlir::MemRefType> ins,
                                                      llvm::ArrayRef<mlir::MemRefType> outs);

/// The operations of a contraction's kernel on its sums; empty for other ops.
runtime::Epilogue findEpilogue(mlir::Operation *op);

} // namespace xlc

#endif
