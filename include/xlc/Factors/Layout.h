// The layout of a value on the tensor-parallel ranks, and conversions between layouts.
//
// The tp ranks are parts x copies: ranks with the same major index own the same piece. A split is always over the
// parts. The copies of a piece are equal, or are terms of a sum that is not yet reduced:
//
//     tp = 4     parts 4           parts 2           parts 1
//     split      |0 |1 |2 |3 |     |0  0 |1  1 |     replicated
//     partial    (no copies)       |a  b |c  d |     a + b + c + d
//
// A dimension is viewed as [outer, parts, block]: the fused query, key and value of [h, 3 heads d] have outer 3.
#ifndef XLC_FACTORS_LAYOUT_H
#define XLC_FACTORS_LAYOUT_H

#include "xlc/Dialect/Dist/Dist.h"

namespace xlc::shard {

struct Layout {
  int64_t dim = -1; ///< the dimension that is split; -1: none
  int64_t outer = 1, parts = 1;
  bool isPartial = false; ///< the copies are terms of a sum

  static Layout replicated() { return {}; }
  static Layout partial() { return {-1, 1, 1, true}; }
  static Layout split(int64_t dim, int64_t outer, int64_t parts) {
    return parts == 1 || dim < 0 ? Layout{} : Layout{dim, outer, parts, false};
  }
  bool isSplit() const { return dim >= 0; }
  bool isReplicated() const { return dim < 0 && !isPartial; }
  /// The same pieces, with the sum reduced, or not yet reduced.
  Layout summed() const { return {dim, outer, parts, false}; }
  Layout unsummed() const { return {dim, outer, parts, true}; }
  bool isSameSplit(const Layout &other) const { return summed() == other.summed(); }
  bool operator==(const Layout &other) const = default;
};

/// The local shape: the split dimension has the size of its blocks, rounded up.
llvm::SmallVector<int64_t> localShape(llvm::ArrayRef<int64_t> shape, const Layout &layout);
mlir::RankedTensorType localType(mlir::Type type, const Layout &layout);
/// Whether all blocks are full.
bool isEven(llvm::ArrayRef<int64_t> shape, const Layout &layout);

/// For tp ranks, the ranks that own the different parts of a piece that `coarse` keeps together and `fine` splits. Both
/// split the same way, or `coarse` does not split.
dist::GroupAttr partsGroup(mlir::MLIRContext *context, const Layout &coarse, const Layout &fine, int64_t tp);
/// The ranks that own the same piece.
dist::GroupAttr copiesGroup(mlir::MLIRContext *context, const Layout &layout, int64_t tp);

/// One step from a layout to another.
struct Step {
  enum class Kind { AllReduce, ReduceScatter, AllGather, AllToAll, Slice } kind;
  Layout from, to;
  /// Bytes that a rank receives: an all_reduce counts twice its size, the others once, times (n - 1) / n.
  int64_t bytes(mlir::RankedTensorType global, int64_t tp) const;
};

/// A path of low cost from one layout to another, measured by the bytes that ranks receive. It is the cheapest, except
/// for some layouts with runs (unittests/Shard/ShortestPath.cpp). None if there is no path (nothing becomes partial). A
/// sum is reduced where the split is finest; a split moves between dimensions with the smallest possible pieces; then
/// splits that are too fine are gathered, and splits that are too coarse are cut.
std::optional<llvm::SmallVector<Step, 3>> findPath(llvm::ArrayRef<int64_t> shape, const Layout &from, const Layout &to,
                                                   int64_t tp);

} // namespace xlc::shard

#endif
