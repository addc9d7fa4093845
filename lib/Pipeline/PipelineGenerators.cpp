// Schedules that are best written as a list: GPipe (Huang et al., 2019), interleaved 1F1B (Narayanan et al., 2021), and
// ZB-V (Qi et al., 2024).
#include "PipelineOrders.h"

using namespace xlc;

std::vector<Slot> xlc::orderGpipe(const PipelineShape &shape, int64_t rank) {
  std::vector<Slot> slots;
  for (SlotKind kind : {SlotKind::F, SlotKind::B})
    for (int64_t i = 0; i < shape.microBatches; ++i)
      slots.push_back({kind, rank, i});
  return slots;
}

/// Micro-batches go through the chunks in groups of p: p of chunk 0, the same p of chunk 1, ...
std::vector<Slot> xlc::orderInterleaved(const PipelineShape &shape, int64_t rank) {
  int64_t p = shape.ranks, v = shape.chunksPerRank, total = v * shape.microBatches;
  auto slot = [&](SlotKind kind, int64_t k) {
    int64_t local = k / p % v;
    if (kind == SlotKind::B)
      local = v - 1 - local;
    return Slot{kind, local * p + rank, k / (p * v) * p + k % p};
  };
  int64_t warmUp = std::min((v - 1) * p + 2 * (p - 1 - rank), total);
  std::vector<Slot> slots;
  for (int64_t k = 0; k < warmUp; ++k)
    slots.push_back(slot(SlotKind::F, k));
  for (int64_t k = 0; k < total; ++k) {
    if (k + warmUp < total)
      slots.push_back(slot(SlotKind::F, k + warmUp));
    slots.push_back(slot(SlotKind::B, k));
  }
  return slots;
}

namespace {

/// Appends the next micro-batch of a kind and stage; those past the last are counted and left out.
class ListV {
public:
  ListV(const PipelineShape &shape, int64_t rank) : shape(shape), rank(rank) {}

  void add(SlotKind kind, bool isUp) {
    int64_t i = next(kind, isUp)++;
    if (i < shape.microBatches)
      slots.push_back({kind, isUp ? 2 * shape.ranks - 1 - rank : rank, i});
  }
  int64_t &next(SlotKind kind, bool isUp) { return counts[int(kind)][isUp]; }
  std::vector<Slot> take() { return std::move(slots); }

private:
  const PipelineShape &shape;
  int64_t rank;
  int64_t counts[4][2] = {};
  std::vector<Slot> slots;
};

} // namespace

/// Stage a lies on the way down, b on the way up. It is written for at least 2p - 1 micro-batches.
std::vector<Slot> xlc::orderZeroBubbleV(const PipelineShape &shape, int64_t r) {
  using enum SlotKind;
  constexpr bool a = false, b = true;
  int64_t p = shape.ranks, n = std::max(shape.microBatches, 2 * p - 1);
  ListV list(shape, r);
  auto repeat = [&](int64_t times, std::initializer_list<std::pair<SlotKind, bool>> group) {
    for (int64_t i = 0; i < times; ++i)
      for (auto [kind, isUp] : group)
        list.add(kind, isUp);
  };
  repeat(2 * (p - r) - 1, {{F, a}});
  repeat(r, {{F, b}, {F, a}});
  repeat(p - r, {{F, b}, {I, b}, {W, b}});
  while (list.next(F, b) < list.next(F, a) || list.next(F, a) < n) {
    repeat(list.next(F, a) < n, {{F, a}});
    repeat(1, {{I, a}, {W, a}, {F, b}, {I, b}, {W, b}});
  }
  repeat(r, {{I, a}, {I, b}});
  repeat(p - r, {{I, a}, {W, a}});
  repeat(n - list.next(W, b), {{W, b}});
  repeat(n - list.next(W, a), {{W, a}});
  return list.take();
}
