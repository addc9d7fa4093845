// The tree is laid out as a heap: node v has the children 2v + 1 and 2v + 2.
#include "FreeSpace.h"

#include <algorithm>

#include "llvm/Support/MathExtras.h"

namespace xlc {

void AddressRanges::insert(int64_t begin, int64_t end) {
  auto first =
      std::partition_point(ranges.begin(), ranges.end(), [&](const Range &range) { return range.end < begin; });
  auto last = std::partition_point(first, ranges.end(), [&](const Range &range) { return range.begin <= end; });
  if (first == last) {
    ranges.insert(first, {begin, end});
    return;
  }
  first->begin = std::min(first->begin, begin);
  first->end = std::max(std::prev(last)->end, end);
  ranges.erase(std::next(first), last);
}

int64_t AddressRanges::skip(int64_t begin, int64_t end) const {
  auto it = std::partition_point(ranges.begin(), ranges.end(), [&](const Range &range) { return range.end <= begin; });
  return it != ranges.end() && it->begin < end ? it->end : begin;
}

void FreeSpace::clear() {
  for (Node &node : nodes)
    node.covering.clear(), node.touching.clear();
}

void FreeSpace::collect(size_t node, int low, int high, int first, int last) {
  --steps;
  if (last < low || high < first)
    return;
  if (!nodes[node].covering.empty())
    inTheWay.push_back(&nodes[node].covering);
  if (first <= low && high <= last) {
    if (!nodes[node].touching.empty())
      inTheWay.push_back(&nodes[node].touching);
    return;
  }
  int middle = low + (high - low) / 2;
  collect(2 * node + 1, low, middle, first, last);
  collect(2 * node + 2, middle + 1, high, first, last);
}

int64_t FreeSpace::alignTop(int64_t from, int64_t alignment) const {
  for (const AddressRanges *ranges : inTheWay)
    from = std::max(from, ranges->top());
  return llvm::alignTo(from, alignment);
}

int64_t FreeSpace::findLowest(llvm::ArrayRef<Moments> spans, int64_t size, int64_t alignment, int64_t from) {
  inTheWay.clear();
  for (Moments span : spans)
    collect(0, 0, moments - 1, span.first, span.last);
  int64_t offset = llvm::alignTo(from, alignment);
  // Round and round until every set in turn has let the same offset pass.
  for (size_t i = 0, passed = 0; passed < inTheWay.size(); i = i + 1 == inTheWay.size() ? 0 : i + 1) {
    if (--steps < 0)
      return alignTop(offset, alignment);
    int64_t next = inTheWay[i]->skip(offset, offset + size);
    if (next == offset) {
      ++passed;
      continue;
    }
    passed = 0;
    offset = llvm::alignTo(next, alignment);
  }
  return offset;
}

void FreeSpace::take(int first, int last, int64_t begin, int64_t end) {
  take(0, 0, moments - 1, first, last, begin, end);
}

void FreeSpace::take(size_t node, int low, int high, int first, int last, int64_t begin, int64_t end) {
  --steps;
  if (last < low || high < first)
    return;
  if (first <= low && high <= last) {
    nodes[node].covering.insert(begin, end);
    return;
  }
  nodes[node].touching.insert(begin, end);
  int middle = low + (high - low) / 2;
  take(2 * node + 1, low, middle, first, last, begin, end);
  take(2 * node + 2, middle + 1, high, first, last, begin, end);
}

} // namespace xlc
