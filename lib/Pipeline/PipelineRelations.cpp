// Schedules as pairs (first, second) of slots on one rank; sorting them gives the order. A rank r of p runs F, B (or I
// and W) of its one chunk for micro-batches 0 to m - 1.
//
//   1f1b     B(i) before F(i + p - r)           at most p - r forwards are ahead
//            F(i + p - r - 1) before B(i)       and no fewer, while there are any
//   eager    the same with 2 (p - r) - 1: a message between two ranks has the time of a slot (Zhuang et al., 2023)
//   zb       the same with I for B, and W put off until I has room for it (Qi et al., 2023)
#include "PipelineOrders.h"
#include "llvm/ADT/STLExtras.h"

using namespace xlc;

namespace {

using enum SlotKind;

class Relations {
public:
  Relations(const PipelineShape &shape, int64_t rank, llvm::ArrayRef<SlotKind> kinds)
      : m(shape.microBatches), rank(rank), kinds(kinds), after(kinds.size() * m), waitsFor(after.size(), 0) {
    for (auto [k, kind] : llvm::enumerate(kinds))
      for (int64_t i = 0; i < m; ++i) {
        if (kind == F || kind == B || kind == I)
          before(kind, i, kind, i + 1);
        if (k > 0)
          before(kinds[k - 1], i, kind, i);
      }
  }

  /// One pair; left out where it names a micro-batch that does not exist.
  void before(SlotKind first, int64_t i, SlotKind second, int64_t j) {
    if (i < 0 || j < 0 || i >= m || j >= m)
      return;
    after[indexOf(first, i)].push_back(indexOf(second, j));
    ++waitsFor[indexOf(second, j)];
  }
  /// The leader runs `count` micro-batches ahead of the follower: no more, and no fewer while there are any.
  void keepAhead(SlotKind leader, SlotKind follower, int64_t count) {
    for (int64_t i = 0; i < m; ++i) {
      before(follower, i, leader, i + count);
      before(leader, std::min(i + count, m) - 1, follower, i);
    }
  }

  /// The order, if the relations leave no choice in it; else nothing, which the checker reports.
  std::vector<Slot> sort() {
    std::vector<size_t> ready;
    for (size_t n = 0; n < waitsFor.size(); ++n)
      if (waitsFor[n] == 0)
        ready.push_back(n);
    std::vector<Slot> slots;
    while (!ready.empty()) {
      if (ready.size() > 1)
        return {};
      size_t n = ready.front();
      ready.clear();
      slots.push_back({kinds[n / m], rank, int64_t(n % m)});
      for (size_t next : after[n])
        if (--waitsFor[next] == 0)
          ready.push_back(next);
    }
    return slots;
  }

private:
  size_t indexOf(SlotKind kind, int64_t i) const { return (llvm::find(kinds, kind) - kinds.begin()) * m + i; }

  int64_t m, rank;
  llvm::ArrayRef<SlotKind> kinds;
  std::vector<std::vector<size_t>> after;
  std::vector<size_t> waitsFor;
};

constexpr SlotKind whole[] = {F, B}, split[] = {F, I, W};

/// F so far ahead of I, I of W, and F of W.
std::vector<Slot> orderZeroBubble(const PipelineShape &shape, int64_t r, int64_t fOfI, int64_t iOfW, int64_t fOfW) {
  Relations relations(shape, r, split);
  relations.keepAhead(F, I, fOfI);
  relations.keepAhead(I, W, iOfW);
  for (int64_t i = 0; i < shape.microBatches; ++i) {
    relations.before(W, i, F, i + fOfW);
    relations.before(W, i, W, i + 1);
  }
  return relations.sort();
}

} // namespace

std::vector<Slot> xlc::order1f1b(const PipelineShape &shape, int64_t r) {
  Relations relations(shape, r, whole);
  relations.keepAhead(F, B, shape.ranks - r);
  return relations.sort();
}

std::vector<Slot> xlc::orderEager1f1b(const PipelineShape &shape, int64_t r) {
  Relations relations(shape, r, whole);
  relations.keepAhead(F, B, 2 * (shape.ranks - r) - 1);
  return relations.sort();
}

std::vector<Slot> xlc::orderZeroBubbleH1(const PipelineShape &shape, int64_t r) {
  int64_t p = shape.ranks;
  return orderZeroBubble(shape, r, p - r, r + 1, p);
}

std::vector<Slot> xlc::orderZeroBubbleH2(const PipelineShape &shape, int64_t r) {
  int64_t p = shape.ranks;
  return orderZeroBubble(shape, r, 2 * (p - r) - 1, 2 * r + 1, 2 * p - 1);
}
