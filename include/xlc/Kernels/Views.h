// Ops that only rearrange the elements of another value, as strides: their results need no memory.
#ifndef XLC_KERNELS_VIEWS_H
#define XLC_KERNELS_VIEWS_H

#include "xlc/Dialect/Dist/Dist.h"
#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {

/// Element (i0, i1, ...) is `offset + sum of i * strides` elements after the first of `root`.
struct MemoryLayout {
  mlir::Value root;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> sizes, strides;

  /// `root` itself: row-major, without gaps.
  static MemoryLayout whole(mlir::Value root);
  bool isContiguous() const;
  /// The memory of the root under this layout, relative to `offset`.
  mlir::MemRefType getMemory() const;
};

/// The strides of elements with layout `sizes` and `strides` under the shape `to`; none if this requires a copy.
std::optional<llvm::SmallVector<int64_t>> reshapeStrides(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides,
                                                         llvm::ArrayRef<int64_t> to);

/// The layout of a reshape, transpose or slice of a value with layout `from`; none for other ops, and if a copy is
/// required.
std::optional<MemoryLayout> viewThrough(mlir::Operation *op, const MemoryLayout &from);

/// The layout of a value through all views above it. Values that are not views are their own root.
MemoryLayout findLayout(mlir::Value value);

/// Whether `value` is a view of another value.
bool isView(mlir::Value value);

/// Whether the result of the op is stored by the program: a rank's index in a group, the loss scale. It is in memory
/// before a function runs.
bool isHeld(mlir::Operation *op);
/// Whether the op is outside kernels: it is stored by the program, or is executed jointly by ranks.
bool isOutsideKernels(mlir::Operation *op);

} // namespace xlc

#endif
