// Answers "what is the lowest free offset during these moments?" without looking at every placed buffer.
//
// A segment tree over time. A placed buffer covers O(log n) nodes whose moments it fills completely, and
// touches their ancestors. A node keeps, as sorted disjoint address ranges, what covers it and what touches
// its subtree. Whoever is in the way of a buffer is then in O(log n) such sets: what touches a node that it
// covers, or covers an ancestor of one. Ranges that meet are merged, and since memory fills from the bottom,
// a stack of thousands of buffers is mostly one range.
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

  /// The end of the first range that meets [begin, end), or `begin` where none does.
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
  /// From one moment to another, both inclusive.
  struct Moments {
    int first, last;
  };

  /// Moments are numbered 0 to moments - 1. `steps` is counted down, by one for each node and each range that is
  /// looked at: what an attempt costs.
  FreeSpace(int moments, int64_t &steps) : moments(moments), steps(steps), nodes(kNodes * std::size_t(moments)) {}

  /// All is free again. Memory is kept: thousands of attempts fill the same space.
  void clear();

  /// The lowest multiple of `alignment` from `from` on at which `size` bytes are free during all spans.
  /// With no steps left: the lowest above everything that is there.
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
