// Ops that only arrange the elements of another value, as strides: what they make needs no memory.
#ifndef XLC_KERNELS_VIEWS_H
#define XLC_KERNELS_VIEWS_H

#include "xlc/Dialect/Dist/Dist.h"
#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {

/// Element (i0, i1, ...) stands `offset + sum of i * strides` elements after the first of `root`.
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

/// Strides under which elements laid out by `sizes` and `strides` appear as `to`; none where only a copy can do it.
std::optional<llvm::SmallVector<int64_t>> reshapeStrides(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides,
                                                         llvm::ArrayRef<int64_t> to);

/// The layout of a reshape, transpose or slice of something laid out as `from`; none for other ops, and where a copy is
/// needed.
std::optional<MemoryLayout> viewThrough(mlir::Operation *op, const MemoryLayout &from);

/// The layout of a value through all views above it. Values that are not views are their own root.
MemoryLayout findLayout(mlir::Value value);

/// Whether `value` is a view of another value.
bool isView(mlir::Value value);

/// Whether a program holds what the op gives: a rank's index in a group, the loss scale. It is in memory before a function
/// runs.
bool isHeld(mlir::Operation *op);
/// Whether the op is no kernel's: it is held, or ranks do it together.
bool isOutsideKernels(mlir::Operation *op);

} // namespace xlc

#endif
