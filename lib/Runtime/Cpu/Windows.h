// Iterates over the windows of convolutions and pools.
//
// For one position in the window (k0, k1, k2) the outputs [begin, end) are cut into runs: neighbouring outputs along
// the last dimension, which read elements of the input at a fixed step, or none.
//
//     outputs   [ - - | o o o o o | - ][ - - | o o o o o | - ] ...      - : the window hangs over the edge
#ifndef XLC_LIB_RUNTIME_CPU_WINDOWS_H
#define XLC_LIB_RUNTIME_CPU_WINDOWS_H

#include "xlc/Runtime/Workspace.h"

#include <algorithm>
#include <array>

namespace xlc::runtime {

/// The outputs [begin, end) for which window position `k` is inside the input.
inline std::array<int64_t, 2> findInside(const WindowDim &dim, int64_t k) {
  int64_t shift = k * dim.dilation - dim.pad; // i = o * stride + shift
  int64_t begin = shift >= 0 ? 0 : (-shift + dim.stride - 1) / dim.stride;
  int64_t end = shift >= dim.in ? 0 : (dim.in - 1 - shift) / dim.stride + 1;
  begin = std::min(begin, dim.out);
  return {begin, std::max(begin, std::min(end, dim.out))};
}

/// Calls visit(output, input, count): `count` outputs from `output` read the elements from `input` of a plane,
/// dims[2].stride apart; input < 0: they read none. `k` is a window position in row-major order.
template <class Visit> void forEachRun(const Windows &w, int64_t k, int64_t begin, int64_t end, Visit visit) {
  const auto &[d0, d1, d2] = w.dims;
  int64_t k2 = k % d2.size, k1 = k / d2.size % d1.size, k0 = k / d2.size / d1.size;
  auto [insideBegin, insideEnd] = findInside(d2, k2);
  int64_t shift = k2 * d2.dilation - d2.pad;
  for (int64_t o = begin; o < end;) {
    int64_t row = o / d2.out, rowEnd = std::min(end, (row + 1) * d2.out), first = row * d2.out;
    int64_t i1 = findInput(d1, row % d1.out, k1), i0 = findInput(d0, row / d1.out, k0);
    int64_t from = std::clamp(first + insideBegin, o, rowEnd), to = std::clamp(first + insideEnd, from, rowEnd);
    if (i0 < 0 || i1 < 0)
      from = to = rowEnd;
    if (from > o)
      visit(o, (int64_t)-1, from - o);
    if (to > from)
      visit(from, (i0 * d1.in + i1) * d2.in + (from - first) * d2.stride + shift, to - from);
    if (rowEnd > to)
      visit(to, (int64_t)-1, rowEnd - to);
    o = rowEnd;
  }
}

/// Visits only the runs that read elements.
template <class Visit> void forEachInside(const Windows &w, int64_t k, int64_t begin, int64_t end, Visit visit) {
  forEachRun(w, k, begin, end, [&](int64_t output, int64_t input, int64_t count) {
    if (input >= 0)
      visit(output, input, count);
  });
}

} // namespace xlc::runtime

#endif
