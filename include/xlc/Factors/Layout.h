// How a value lies on the tensor-parallel ranks, and how it comes from one layout to another.
//
// The tp ranks are parts x copies: ranks with the same major index own the same piece. Whatever a layout splits
// is split over the parts; what the copies hold of a piece is equal, or terms of a sum that is still to be made:
//
//     tp = 4     parts 4           parts 2           parts 1
//     split      |0 |1 |2 |3 |     |0  0 |1  1 |     replicated
//     partial    (no copies)       |a  b |c  d |     a + b + c + d
//
// A dimension is seen as [outer, parts, block]: the fused query, key and value of [h, 3 heads d] have outer 3.
#ifndef XLC_FACTORS_LAYOUT_H
#define XLC_FACTORS_LAYOUT_H

#include "xlc/Dialect/Dist/Dist.h"

namespace xlc::shard {

struct Layout {
  int64_t dim = -1; ///< the dimension that is split; -1: none
  int64_t outer = 1, parts = 1;
  bool isPartial = false; ///< the copies hold terms of a sum

  static Layout replicated() { return {}; }
  static Layout partial() { return {-1, 1, 1, true}; }
  static Layout split(int64_t dim, int64_t outer, int64_t parts) {
    return parts == 1 || dim < 0 ? Layout{} : Layout{dim, outer, parts, false};
  }
  bool isSplit() const { return dim >= 0; }
  bool isReplicated() const { return dim < 0 && !isPartial; }
  /// The same pieces, with the sum made, or still to be made.
  Layout summed() const { return {dim, outer, parts, false}; }
  Layout unsummed() const { return {dim, outer, parts, true}; }
  bool isSameSplit(const Layout &other) const { return summed() == other.summed(); }
  bool operator==(const Layout &other) const = default;
};

/// The local shape: the split dimension holds its blocks, rounded up.
llvm::SmallVector<int64_t> localShape(llvm::ArrayRef<int64_t> shape, const Layout &layout);
mlir::RankedTensorType localType(mlir::Type type, const Layout &layout);
/// Whether all blocks are full.
bool isEven(llvm::ArrayRef<int64_t> shape, const Layout &layout);

/// The ranks that own the different parts of what `coarse` keeps together and `fine` splits, for tp ranks. Both split
/// the same way, or `coarse` does not split.
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

/// A cheap way from one layout to another, by what ranks receive (the cheapest, but for some with runs:
/// unittests/Shard/ShortestPath.cpp); none where there is none (nothing becomes
/// partial). A sum is made where it is cut most finely; a split moves from one dimension to another between pieces as
/// small as there are; then what is too fine is gathered, and what is too coarse cut.
std::optional<llvm::SmallVector<Step, 3>> findPath(llvm::ArrayRef<int64_t> shape, const Layout &from, const Layout &to,
                                                   int64_t tp);

} // namespace xlc::shard

#endif
