// The products of attention, for operands of any type; and its rows as floats, in place or in separate memory.
//
// Q K^T and dout V^T multiply elements as stored: in bf16 they are products of bf16, if the processor supports them.
// The left operand of all other products (probabilities and gradients of scores) is floats, and is never rounded.
#ifndef XLC_LIB_RUNTIME_CPU_ATTENTIONPRODUCTS_H
#define XLC_LIB_RUNTIME_CPU_ATTENTIONPRODUCTS_H

#include "Bf16Product.h"
#include "NarrowVector.h"
#include "Product.h"

#include <algorithm>

namespace xlc::runtime {

/// The depth of a sum of `terms` terms, with the accuracy for the size of the whole product; equal for all items.
inline Depth depthOf(const AttentionShape &s, int64_t terms) {
  return {terms, std::min(shortChunk, chunkFor(s.batch * s.heads * s.queries * s.keys * std::max(s.d, s.e)))};
}

/// Rows of floats, `stride` apart.
template <class F> struct Rows {
  F *data;
  int64_t stride;
};

/// Rows of `width` elements as floats: in place, or converted into `aside`.
template <class T>
Rows<const float> widenRows(const T *from, int64_t stride, int64_t rows, int64_t width, float *aside) {
  if constexpr (std::is_same_v<T, float>)
    return {from, stride};
  else {
    for (int64_t i = 0; i < rows; ++i)
      widenRow(from + i * stride, aside + i * width, width);
    return {aside, width};
  }
}

/// The memory for the sums of results: in place, or `aside`.
template <class T> Rows<float> sumRows(T *to, int64_t stride, int64_t width, float *aside) {
  if constexpr (std::is_same_v<T, float>)
    return {to, stride};
  else
    return {aside, width};
}
inline void clearRows(Rows<float> sums, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows; ++i)
    std::fill_n(sums.data + i * sums.stride, width, 0.0f);
}
/// Rounds sums that were computed in separate memory.
template <class T> void finishRows(Rows<float> sums, int64_t rows, int64_t width, T *to, int64_t stride) {
  if constexpr (!std::is_same_v<T, float>)
    for (int64_t i = 0; i < rows; ++i)
      narrowRow(sums.data + i * sums.stride, to + i * stride, width);
}

/// Whether Q K^T and dout V^T are products of bf16. In small models they are not: these are summed in double.
template <class T> bool usesPairs(const AttentionShape &s) {
  return std::is_same_v<T, Bf16> && multipliesBf16() && depthOf(s, s.d).chunk != wideSum;
}

/// Packs `count` rows of K or V as the columns by which rows of q or dout are multiplied.
template <class T>
void packColumns(const AttentionShape &s, const T *rows, int64_t stride, int64_t width, int64_t count, float *panels) {
  if constexpr (std::is_same_v<T, Bf16>)
    if (usesPairs<T>(s))
      return packPairs(rows, stride, width, count, panels);
  packPanels(rows, 1, stride, width, count, panels);
}

/// to[rows, columns] = rows of q or dout, of `width` elements, times such columns, a multiple of panelWidth.
template <class T>
void multiplyColumns(const AttentionShape &s, Rows<const T> left, int64_t rows, int64_t width, const float *panels,
                     int64_t columns, float *to, float *aside) {
  if constexpr (std::is_same_v<T, Bf16>)
    if (usesPairs<T>(s))
      return multiplyPairs(left.data, left.stride, panels, rows, columns, width, to, columns);
  Rows<const float> wide = widenRows(left.data, left.stride, rows, width, aside);
  multiplyPanels(wide.data, wide.stride, 1, {panels, width}, rows, columns, depthOf(s, width), to, columns, false);
}

} // namespace xlc::runtime

#endif
