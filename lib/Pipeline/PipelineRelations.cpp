// Schedules as pairs that say what comes before what on one rank; sorting them gives the order. A rank r of p runs F, B
// (or I and W) of its one chunk for micro-batches 0 to m - 1.
//
//   1f1b     B(i) before F(i + p - r)           at most p - r forwards are ahead
//            F(i + p - r - 1) before B(i)       and no fewer, while there are any
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
  int64_t last(int64_t i) const { return std::min(i, m - 1); }

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

} // namespace

std::vector<Slot> xlc::order1f1b(const PipelineShape &shape, int64_t r) {
  int64_t p = shape.ranks;
  Relations relations(shape, r, whole);
  for (int64_t i = 0; i < shape.microBatches; ++i) {
    relations.before(B, i, F, i + p - r);
    relations.before(F, relations.last(i + p - r - 1), B, i);
  }
  return relations.sort();
}

std::vector<Slot> xlc::orderZeroBubbleH1(const PipelineShape &shape, int64_t r) {
  int64_t p = shape.ranks;
  Relations relations(shape, r, split);
  for (int64_t i = 0; i < shape.microBatches; ++i) {
    relations.before(I, i, F, i + p - r);
    relations.before(F, relations.last(i + p - r - 1), I, i);
    relations.before(W, i, F, i + p);
    relations.before(I, relations.last(i + r), W, i);
    relations.before(W, i, I, i + r + 1);
    relations.before(W, i, W, i + 1);
  }
  return relations.sort();
}

std::vector<Slot> xlc::orderZeroBubbleH2(const PipelineShape &shape, int64_t r) {
  int64_t p = shape.ranks;
  Relations relations(shape, r, split);
  for (int64_t i = 0; i < shape.microBatches; ++i) {
    relations.before(I, i, F, i + 2 * (p - r) - 1);
    relations.before(F, relations.last(i + 2 * (p - r) - 2), I, i);
    relations.before(I, relations.last(i + 2 * r), W, i);
    relations.before(W, i, I, i + 2 * r + 1);
    relations.before(W, i, F, i + 2 * p - 1);
    relations.before(W, i, W, i + 1);
  }
  return relations.sort();
}
