// Scatter-add without atomics and scratch: who owns an element of y reads all indices, and adds in their order, so that bits
// are those of the CPU. A warp owns a row: 32 indices at a time are compared with it, a vote says which are equal.
//
//     indices   7 2 9 2 ... 2 | ...        lanes of warp "row 2":   . x . x ... x        then, update by update,
//                                                                                        lane l adds columns l, l + 32, ...
#include "Stored.h"
#include "Threads.h"

using namespace xlc::device;
using namespace xlc::runtime;

namespace {

constexpr int64_t kPerLane = 32; ///< sums of a lane at once, in registers
constexpr int64_t kColumns = kPerLane * kDeviceWarp;

template <class Element> using Result = Global<typename Stored<Element>::Bits>;

inline bool isIndex(int64_t index, int64_t row, const ScatterParameters &p) {
  if (index < 0 || index >= p.rows)
    __builtin_trap();
  return index == row;
}

/// visit(i) for the indices that are `row`, in their order. Few are: of `kGlance` warps of them none is, mostly.
template <class Index, class Visit>
void forEachOfRow(Global<const Index> indices, const ScatterParameters &p, int64_t row, int64_t lane, Visit visit) {
  constexpr int kGlance = 4;
  for (int64_t first = 0; first < p.indices; first += kGlance * kDeviceWarp) {
    bool isOfRow = false;
#pragma clang loop unroll(full)
    for (int g = 0; g < kGlance; ++g) {
      int64_t i = first + g * kDeviceWarp + lane;
      isOfRow |= i < p.indices && isIndex(indices[i], row, p);
    }
    if (findLanes(isOfRow) == 0)
      continue;
#pragma clang loop unroll(disable)
    for (int g = 0; g < kGlance; ++g) {
      int64_t begin = first + g * kDeviceWarp, i = begin + lane;
      for (uint32_t lanes = findLanes(i < p.indices && indices[i] == row); lanes != 0; lanes &= lanes - 1)
        visit(begin + __builtin_ctz(lanes));
    }
  }
}

/// visit(k, k * kDeviceWarp) for those sums of a lane that have one of so many columns. Unrolled, for sums are registers.
template <class Visit> void forEachSum(int columns, Visit visit) {
#pragma clang loop unroll(full)
  for (int k = 0; k < kPerLane; ++k)
    if (k * kDeviceWarp < columns)
      visit(k, k * kDeviceWarp);
}

template <class Index, class Element>
void scatterRows(Global<const Index> indices, Global<const float> updates, Result<Element> y,
                 const ScatterParameters &p) {
  int64_t lane = findThread() % kDeviceWarp, row = findThread() / kDeviceWarp, outer = row / p.rows;
  if (outer >= p.outer)
    return;
  indices += outer % p.distinct * p.indices;
  updates += outer * p.indices * p.width;
  y += row * p.width;
  for (int64_t first = lane; first - lane < p.width; first += kColumns) {
    int columns = (int)(p.width - first < kColumns ? p.width - first : kColumns);
    float sums[kPerLane] = {};
    if constexpr (sizeof(Element) == sizeof(float))
      if (p.adds)
        forEachSum(columns, [&](int k, int column) { sums[k] = y[first + column]; });
    forEachOfRow(indices, p, row % p.rows, lane, [&](int64_t i) {
      Global<const float> update = updates + i * p.width + first;
      forEachSum(columns, [&](int k, int column) { sums[k] += update[column]; });
    });
    forEachSum(columns, [&](int k, int column) { y[first + column] = Stored<Element>::make(sums[k]); });
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
    if (isIndex(indices[at], row, p))
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
