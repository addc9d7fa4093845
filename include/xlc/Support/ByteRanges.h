// Sets of bytes of the arena as disjoint ranges, for the gate of Memory and the check of a plan.
#ifndef XLC_SUPPORT_BYTERANGES_H
#define XLC_SUPPORT_BYTERANGES_H

#include <algorithm>
#include <cstdint>
#include <map>

namespace xlc {

/// Bytes [begin, end).
struct ByteRange {
  int64_t begin, end;

  bool isEmpty() const { return begin >= end; }
  bool meets(const ByteRange &other) const {
    return !isEmpty() && !other.isEmpty() && begin < other.end && other.begin < end;
  }
};

class ByteSet {
public:
  void add(ByteRange range) {
    remove(range);
    if (!range.isEmpty())
      ends[range.begin] = range.end;
  }

  void remove(ByteRange range) {
    for (auto it = firstThatMeets(range); it != ends.end() && it->first < range.end;) {
      auto [begin, end] = *it;
      it = ends.erase(it);
      if (begin < range.begin)
        ends[begin] = range.begin;
      if (end > range.end)
        ends[range.end] = end;
    }
  }

  bool meets(ByteRange range) const {
    auto it = firstThatMeets(range);
    return !range.isEmpty() && it != ends.end() && it->first < range.end;
  }

private:
  /// The first range whose end is after the begin of `range`.
  std::map<int64_t, int64_t>::const_iterator firstThatMeets(ByteRange range) const {
    auto it = ends.upper_bound(range.begin);
    if (it != ends.begin() && std::prev(it)->second > range.begin)
      --it;
    return it;
  }

  std::map<int64_t, int64_t> ends; ///< by begin; disjoint
};

} // namespace xlc

#endif
