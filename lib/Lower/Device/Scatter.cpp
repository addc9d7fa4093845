// Scatter-add without atomics and scratch memory: the thread that owns an element of y adds its updates in the order of
// their indices, so the bits are those of the CPU. A block owns some rows and reads all indices once, to record which
// sections of them contain rows of which of its warps. Then each warp sums row after row and reads its own sections
// only.
//
//     indices   7 2 9 2 | 0 5 5 1 | 4 2 8 8 | ...     block of rows 2 and 3: sections of the warp of row 2: x . x ...
//     row 2     . x . x |         | . x . . | ...     then, update by update, lane l adds columns l, l + 32, ...
#include "Stored.h"
#include "Threads.h"

using namespace xlc::device;
using namespace xlc::runtime;

namespace {

constexpr int64_t kPerLane = 16; ///< sums of a lane at once, in registers
constexpr int64_t kColumns = kPerLane * kDeviceWarp;
constexpr int kAtOnce = 2; ///< updates of a row that are read before the first of them is added
constexpr int64_t kWarps = kDeviceThreads / kDeviceWarp;
constexpr int64_t kSections = 2048;

/// Bit w of a section: whether it has indices of rows of this block's warp w.
Shared<uint8_t> sectionHas[kSections];

template <class Element> using Result = Global<typename Stored<Element>::Bits>;

inline int64_t checkIndex(int64_t index, const ScatterParameters &p) {
  if (index < 0 || index >= p.rows)
    __builtin_trap();
  return index;
}

/// A section is a warp's width of indices, or as many times that as all indices need.
inline int64_t widthOfSection(const ScatterParameters &p) {
  constexpr int64_t most = kSections * kDeviceWarp;
  return (p.indices + most - 1) / most * kDeviceWarp;
}

/// Of all blocks of y, and the rows of it that are this block's. Its warp w has first + w, first + w + kWarps, ...
struct OwnRows {
  int64_t outer, first, end;

  explicit OwnRows(const ScatterParameters &p) {
    int64_t blocks = blocksOfTable(p);
    outer = findBlock() / blocks;
    first = findBlock() % blocks * p.rowsOfBlock;
    end = first + p.rowsOfBlock < p.rows ? first + p.rowsOfBlock : p.rows;
  }
  uint32_t warpsOf(int64_t row) const { return row >= first && row < end ? 1U << (row - first) % kWarps : 0; }
};

/// Which bits any lane has.
inline uint32_t uniteLanes(uint32_t bits) {
  if (findLanes(bits != 0) == 0)
    return 0;
  uint32_t all = 0;
  for (int w = 0; w < kWarps; ++w)
    all |= findLanes((bits >> w & 1) != 0) != 0 ? 1U << w : 0U;
  return all;
}

template <class Index>
[[clang::always_inline]] void noteSections(Global<const Index> indices, const ScatterParameters &p, OwnRows own) {
  constexpr int kGlance = 8; // reads on their way at once
  int64_t width = widthOfSection(p);
  for (int64_t section = findWarp() * kGlance; section * width < p.indices; section += kWarps * kGlance) {
    uint32_t has[kGlance] = {};
    for (int64_t at = findLane(); at < width; at += kDeviceWarp) {
      int64_t rows[kGlance];
#pragma clang loop unroll(full)
      for (int g = 0; g < kGlance; ++g) {
        int64_t i = (section + g) * width + at;
        rows[g] = i < p.indices ? checkIndex(indices[i], p) : own.end;
      }
#pragma clang loop unroll(full)
      for (int g = 0; g < kGlance; ++g)
        has[g] |= own.warpsOf(rows[g]);
    }
#pragma clang loop unroll(full)
    for (int g = 0; g < kGlance; ++g) {
      uint32_t warps = uniteLanes(has[g]);
      if (findLane() == 0)
        sectionHas[section + g] = (uint8_t)warps;
    }
  }
  synchronizeBlock();
}

/// visit(i) for the indices that are `row`, in their order.
template <class Index, class Visit>
void forEachOfRow(Global<const Index> indices, const ScatterParameters &p, int64_t row, Visit visit) {
  int64_t width = widthOfSection(p);
  for (int64_t first = 0; first * width < p.indices; first += kDeviceWarp) {
    int64_t section = first + findLane();
    bool has = section * width < p.indices && (sectionHas[section] >> findWarp() & 1) != 0;
    for (uint32_t sections = findLanes(has); sections != 0; sections &= sections - 1) {
      int64_t begin = (first + __builtin_ctz(sections)) * width;
      for (int64_t at = begin; at < begin + width; at += kDeviceWarp) {
        int64_t i = at + findLane();
        for (uint32_t lanes = findLanes(i < p.indices && indices[i] == row); lanes != 0; lanes &= lanes - 1)
          visit(at + __builtin_ctz(lanes));
      }
    }
  }
}

/// What a lane sums of a row: `count` columns at most, of which it has every kDeviceWarp-th. Loops are unrolled, for sums are
/// registers.
struct LaneSums {
  int64_t count;
  float sums[kPerLane] = {};
  Global<const float> waiting[kAtOnce] = {}; ///< the last `waits` of them: updates that are not added yet
  int waits = 0;

  /// visit(k, column)
  template <class Visit> void forEach(Visit visit) {
#pragma clang loop unroll(full)
    for (int k = 0; k < kPerLane; ++k)
      if (k * kDeviceWarp < count)
        visit(k, k * kDeviceWarp);
  }

  void add(Global<const float> update) {
#pragma clang loop unroll(full)
    for (int u = 1; u < kAtOnce; ++u)
      waiting[u - 1] = waiting[u];
    waiting[kAtOnce - 1] = update;
    if (++waits == kAtOnce)
      addWaiting();
  }

  void addWaiting() {
    float values[kAtOnce][kPerLane];
#pragma clang loop unroll(full)
    for (int u = 0; u < kAtOnce; ++u)
      if (u >= kAtOnce - waits)
        forEach([&](int k, int64_t column) { values[u][k] = waiting[u][column]; });
#pragma clang loop unroll(full)
    for (int u = 0; u < kAtOnce; ++u)
      if (u >= kAtOnce - waits)
        forEach([&](int k, int64_t) { sums[k] += values[u][k]; });
    waits = 0;
  }
};

template <class Index, class Element>
void scatterRows(Global<const Index> indices, Global<const float> updates, Result<Element> y,
                 const ScatterParameters &p) {
  OwnRows own(p);
  indices += own.outer % p.distinct * p.indices;
  updates += own.outer * p.indices * p.width;
  y += own.outer * p.rows * p.width;
  noteSections(indices, p, own);
  for (int64_t row = own.first + findWarp(); row < own.end; row += kWarps)
    for (int64_t column = findLane(); column - findLane() < p.width; column += kColumns) {
      LaneSums lane{p.width - column};
      Result<Element> to = y + row * p.width + column;
      if constexpr (sizeof(Element) == sizeof(float))
        if (p.adds)
          lane.forEach([&](int k, int64_t at) { lane.sums[k] = to[at]; });
      forEachOfRow(indices, p, row, [&](int64_t i) { lane.add(updates + i * p.width + column); });
      lane.addWaiting();
      lane.forEach([&](int k, int64_t at) { to[at] = Stored<Element>::make(lane.sums[k]); });
    }
}

template <class Index>
void scatterElements(Global<const Index> indices, Global<const float> updates, Global<float> y,
                     const ScatterParameters &p) {
  int64_t element = findThread(), column = element % p.width, row = element / p.width % p.rows;
  int64_t outer = element / p.width / p.rows, size = p.indices * p.width;
  if (outer >= p.outer)
    return;
  indices += outer % p.distinct * size;
  updates += outer * size;
  float sum = p.adds ? y[element] : 0;
  for (int64_t at = column; at < size; at += p.width) {
    if (checkIndex(indices[at], p) == row)
      sum += updates[at];
  }
  y[element] = sum;
}

} // namespace

#define XLC_DEFINE(NAME, INDEX, ELEMENT)                                                                               \
  XLC_KERNEL NAME(Global<const INDEX> indices, Global<const float> updates, Result<ELEMENT> y, ScatterParameters p) {  \
    scatterRows<INDEX, ELEMENT>(indices, updates, y, p);                                                               \
  }
XLC_SCATTER_ROWS(XLC_DEFINE)
#undef XLC_DEFINE

#define XLC_DEFINE(NAME, INDEX)                                                                                        \
  XLC_KERNEL NAME(Global<const INDEX> indices, Global<const float> updates, Global<float> y, ScatterParameters p) {    \
    scatterElements<INDEX>(indices, updates, y, p);                                                                    \
  }
XLC_SCATTER_ELEMENTS(XLC_DEFINE)
