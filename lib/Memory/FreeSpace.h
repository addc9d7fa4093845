// Finds the lowest free offset during a set of moments without visiting every placed buffer.
//
// A segment tree over time. A placed buffer covers O(log n) nodes whose moments it fills completely, and touches their
// ancestors. A node stores the address ranges of buffers that cover it and of buffers that touch its subtree, sorted
// and disjoint. The conflicts of a buffer are then in O(log n) such sets: the ranges that touch a node that it covers,
// or cover an ancestor of one. Adjacent ranges are merged, and since memory fills from the bottom, a stack of thousands
// of buffers is mostly one range.
#ifndef XLC_LIB_MEMORY_FREESPACE_H
#define XLC_LIB_MEMORY_FREESPACE_H

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace xlc {

/// Sorted disjoint address ranges.
class AddressRanges {
public:
  void insert(int64_t begin, int64_t end);

  /// The end of the first range that intersects [begin, end), or `begin` if there is none.
  int64_t skip(int64_t begin, int64_t end) const;

  int64_t top() const { return ranges.empty() ? 0 : ranges.back().end; }
  bool empty() const { return ranges.empty(); }
  void clear() { ranges.clear(); }

private:
  struct Range {
    int64_t begin, end;
  };
  std::vector<Range> ranges;
};

class FreeSpace {
public:
  /// A span of moments, both ends inclusive.
  struct Moments {
    int first, last;
  };

  /// Moments are numbered 0 to moments - 1. `steps` is decremented for each visited node and range; it bounds the cost
  /// of an attempt.
  FreeSpace(int moments, int64_t &steps) : moments(moments), steps(steps), nodes(kNodes * std::size_t(moments)) {}

  /// Frees everything. Memory is kept, since thousands of attempts fill the same space.
  void clear();

  /// The lowest multiple of `alignment` from `from` on at which `size` bytes are free during all spans. If no steps are
  /// left: the lowest one above all placed buffers.
  int64_t findLowest(llvm::ArrayRef<Moments> spans, int64_t size, int64_t alignment, int64_t from);

  /// Takes [begin, end) from moment `first` to `last`.
  void take(int first, int last, int64_t begin, int64_t end);

private:
  struct Node {
    AddressRanges covering, touching;
  };

  int64_t alignTop(int64_t from, int64_t alignment) const;
  void collect(std::size_t node, int low, int high, int first, int last);
  void take(std::size_t node, int low, int high, int first, int last, int64_t begin, int64_t end);

  static constexpr std::size_t kNodes = 4; ///< per leaf of a segment tree, at most
  int moments;
  int64_t &steps;
  std::vector<Node> nodes;
  std::vector<const AddressRanges *> inTheWay; ///< scratch of findLowest
};

} // namespace xlc

#endif
