// See Packing.h.
#include "Packing.h"

#include "NarrowVector.h"

#include <algorithm>

namespace xlc::runtime {
namespace {

/// 16 x 16 elements, from[i * stride + j] to to[j * toStride + i].
template <class T> XLC_INLINE void transposeBlock(const T *from, int64_t stride, float *to, int64_t toStride) {
  using Float = Vector<16>::Float;
  using Loose = Vector<16>::Loose;
  Float rows[16], next[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    load<16>(from + i * stride, rows[i]);
  // Four rounds of interleaving row i with row i + 8 transpose 16 rows.
#pragma GCC unroll 4
  for (int round = 0; round < 4; ++round) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      next[2 * i] =
          __builtin_shufflevector(rows[i], rows[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * i + 1] =
          __builtin_shufflevector(rows[i], rows[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    *(Loose *)(to + i * toStride) = rows[i];
}

/// to[j * toStride + i] = from[i * stride + j] for i < m, j < n.
template <class T>
XLC_INLINE void transpose(const T *from, int64_t stride, int64_t m, int64_t n, float *to, int64_t toStride) {
  int64_t i = 0;
  for (; i + 16 <= m; i += 16) {
    int64_t j = 0;
    for (; j + 16 <= n; j += 16)
      transposeBlock(from + i * stride + j, stride, to + j * toStride + i, toStride);
    for (; j < n; ++j)
      for (int64_t r = i; r < i + 16; ++r)
        to[j * toStride + r] = from[r * stride + j];
  }
  for (; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      to[j * toStride + i] = from[i * stride + j];
}

/// Packs columns [0, n) of b, n <= panelWidth, as rows of `panelWidth` floats.
template <class T> XLC_INLINE void packPanel(const T *b, int64_t bK, int64_t bN, int64_t k, int64_t n, float *to) {
  if (bN == 1)
    for (int64_t p = 0; p < k; ++p)
      widen(b + p * bK, to + p * panelWidth, n);
  else if (bK == 1)
    transpose(b, bN, n, k, to, panelWidth);
  else
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j)
        to[p * panelWidth + j] = b[p * bK + j * bN];
  if (n < panelWidth)
    for (int64_t p = 0; p < k; ++p)
      std::memset(to + p * panelWidth + n, 0, (panelWidth - n) * sizeof(float));
}

template <class T>
XLC_INLINE void packPanelsBody(const T *b, int64_t bK, int64_t bN, int64_t k, int64_t n, float *panels) {
  for (int64_t j = 0; j < n; j += panelWidth)
    packPanel(b + j * bN, bK, bN, k, std::min(panelWidth, n - j), panels + j * k);
}

/// One panel of `count` rows.
template <class T>
XLC_INLINE void packRowPanel(const T *a, int64_t aM, int64_t aK, int64_t count, int64_t k, float *to) {
  if (aM == 1 && aK != 1)
    for (int64_t p = 0; p < k; ++p)
      widen(a + p * aK, to + p * count, count);
  else
    for (int64_t p = 0; p < k; ++p)
      for (int64_t r = 0; r < count; ++r)
        to[p * count + r] = a[r * aM + p * aK];
}

template <class T>
XLC_INLINE void packRowsBody(const T *a, int64_t aM, int64_t aK, int64_t m, int64_t k, int64_t rows, float *to) {
  for (int64_t i = 0; i < m; i += rows, to += rows * k) {
    int64_t count = std::min(rows, m - i);
    if (std::is_same_v<T, float> || aK != 1) {
      packRowPanel(a + i * aM, aM, aK, count, k, to);
      continue;
    }
    float wide[16 * depthBlock]; // converted along the rows, 16 elements at a time
    for (int64_t r = 0; r < count; ++r)
      widen(a + (i + r) * aM, wide + r * k, k);
    packRowPanel(wide, k, 1, count, k, to);
  }
}

template <class T>
XLC_AVX512 void packPanelsAvx512(const T *b, int64_t bK, int64_t bN, int64_t k, int64_t n, float *panels) {
  packPanelsBody(b, bK, bN, k, n, panels);
}
template <class T>
XLC_AVX2 void packPanelsAvx2(const T *b, int64_t bK, int64_t bN, int64_t k, int64_t n, float *panels) {
  packPanelsBody(b, bK, bN, k, n, panels);
}
template <class T>
XLC_AVX512 void packRowsAvx512(const T *a, int64_t aM, int64_t aK, int64_t m, int64_t k, int64_t rows, float *to) {
  packRowsBody(a, aM, aK, m, k, rows, to);
}
template <class T>
XLC_AVX2 void packRowsAvx2(const T *a, int64_t aM, int64_t aK, int64_t m, int64_t k, int64_t rows, float *to) {
  packRowsBody(a, aM, aK, m, k, rows, to);
}

} // namespace

template <class T> void packPanels(const T *b, int64_t bK, int64_t bN, int64_t k, int64_t n, float *panels) {
  switch (findIsa()) {
  case Isa::Avx512:
    return packPanelsAvx512(b, bK, bN, k, n, panels);
  case Isa::Avx2:
    return packPanelsAvx2(b, bK, bN, k, n, panels);
  case Isa::Baseline:
    return packPanelsBody(b, bK, bN, k, n, panels);
  }
}

template <class T> void packRows(const T *a, int64_t aM, int64_t aK, int64_t m, int64_t k, int64_t rows, float *to) {
  switch (findIsa()) {
  case Isa::Avx512:
    return packRowsAvx512(a, aM, aK, m, k, rows, to);
  case Isa::Avx2:
    return packRowsAvx2(a, aM, aK, m, k, rows, to);
  case Isa::Baseline:
    return packRowsBody(a, aM, aK, m, k, rows, to);
  }
}

template void packPanels(const float *, int64_t, int64_t, int64_t, int64_t, float *);
template void packPanels(const Bf16 *, int64_t, int64_t, int64_t, int64_t, float *);
template void packPanels(const Half *, int64_t, int64_t, int64_t, int64_t, float *);
template void packRows(const float *, int64_t, int64_t, int64_t, int64_t, int64_t, float *);
template void packRows(const Bf16 *, int64_t, int64_t, int64_t, int64_t, int64_t, float *);
template void packRows(const Half *, int64_t, int64_t, int64_t, int64_t, int64_t, float *);

} // namespace xlc::runtime
