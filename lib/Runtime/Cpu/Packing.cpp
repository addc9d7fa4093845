// See Packing.h.
#include "Packing.h"

#include "NarrowVector.h"

#include <algorithm>
#include <bit>

namespace xlc::runtime {
namespace {

/// Two elements that move together, as the bits of a float.
struct Pair {
  Bf16 first, second;
  operator float() const { return std::bit_cast<float>(*this); }
};
using runtime::load; // hidden by the one of pairs, else
template <int N> XLC_INLINE void load(const Pair *from, typename Vector<N>::Float &to) {
  std::memcpy(&to, from, sizeof(to));
}

/// An element of rows that begin `stride` bytes apart.
template <class T> XLC_INLINE const T *elementAt(const T *from, int64_t stride, int64_t i, int64_t j) {
  return (const T *)((const char *)from + i * stride) + j;
}

/// 16 x 16 elements, row i of what begins at `from` to column i of rows of 16 that begin `toStride` bytes apart.
template <class T> XLC_INLINE void transposeBlock(const T *from, int64_t stride, void *to, int64_t toStride) {
  using Float = Vector<16>::Float;
  Float rows[16], next[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    load<16>(elementAt(from, stride, i, 0), rows[i]);
  // Four rounds of interleaving row i with row i + 8 transpose 16 rows.
#pragma GCC unroll 4
  for (int round = 0; round < 4; ++round) {
#pragma GCC unroll 8
    for (int64_t i = 0; i < 8; ++i) {
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
    std::memcpy((char *)to + i * toStride, &rows[i], sizeof(Float));
}

/// Each to[j * toStride + i] = row i, column j of what begins at `from`, for i < m, j < n.
template <class T>
XLC_INLINE void transpose(const T *from, int64_t stride, int64_t m, int64_t n, float *to, int64_t toStride) {
  int64_t i = 0;
  for (; i + 16 <= m; i += 16) {
    int64_t j = 0;
    for (; j + 16 <= n; j += 16)
      transposeBlock(elementAt(from, stride, i, j), stride, to + j * toStride + i, toStride * (int64_t)sizeof(float));
    for (; j < n; ++j)
      for (int64_t r = i; r < i + 16; ++r)
        to[j * toStride + r] = *elementAt(from, stride, r, j);
  }
  for (; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      to[j * toStride + i] = *elementAt(from, stride, i, j);
}

/// Fills rows [0, k) of a panel of n < panelWidth columns with zeros.
XLC_INLINE void padPanel(float *panel, int64_t k, int64_t n) {
  for (int64_t p = 0; n < panelWidth && p < k; ++p)
    std::memset(panel + p * panelWidth + n, 0, (panelWidth - n) * sizeof(float));
}

/// Packs columns [0, n) of b, n <= panelWidth, as rows of `panelWidth` floats.
template <class T> XLC_INLINE void packPanel(const T *b, int64_t bK, int64_t bN, int64_t k, int64_t n, float *to) {
  if (bN == 1)
    for (int64_t p = 0; p < k; ++p)
      widen(b + p * bK, to + p * panelWidth, n);
  else if (bK == 1)
    transpose(b, bN * (int64_t)sizeof(T), n, k, to, panelWidth);
  else
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j)
        to[p * panelWidth + j] = b[p * bK + j * bN];
  padPanel(to, k, n);
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

/// 32 elements of two rows as pairs.
XLC_INLINE void pairRows(const Bf16 *first, const Bf16 *second, float *pairs) {
  using Narrow = BitVector<32>::Narrow;
  Narrow a, b;
  std::memcpy(&a, first, sizeof(a)), std::memcpy(&b, second, sizeof(b));
  Narrow begin = __builtin_shufflevector(a, b, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 8, 40, 9, 41, 10,
                                         42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47);
  Narrow end = __builtin_shufflevector(a, b, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55, 24, 56, 25,
                                       57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
  std::memcpy(pairs, &begin, sizeof(begin)), std::memcpy(pairs + 16, &end, sizeof(end));
}

/// A whole block of b, whose rows or whose columns are contiguous.
XLC_INLINE void packWholeBlock(const Bf16 *b, int64_t bK, int64_t bN, float *to) {
  if (bN == 1)
    for (int64_t p = 0; p < blockTerms; p += 2, b += 2 * bK, to += blockColumns)
      for (int64_t j = 0; j < blockColumns; j += 32)
        pairRows(b + j, b + bK + j, to + j);
  else
    for (int64_t j = 0; j < blockColumns; j += 16)
      transposeBlock((const Pair *)(b + j * bN), bN * (int64_t)sizeof(Bf16), to + j, blockColumns * sizeof(float));
}

/// A block of which less is in b, or of no contiguous dimension.
XLC_INLINE void packOtherBlock(const Bf16 *b, int64_t bK, int64_t bN, int64_t k, int64_t n, float *to) {
  Bf16 whole[blockTerms * blockColumns] = {};
  for (int64_t p = 0; p < k; ++p)
    for (int64_t j = 0; j < n; ++j)
      whole[p * blockColumns + j] = b[p * bK + j * bN];
  packWholeBlock(whole, blockColumns, 1, to);
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

XLC_AVX512 void packPairs(const Bf16 *b, int64_t bN, int64_t k, int64_t n, float *panels) {
  int64_t pairs = k / 2, rows = pairs + k % 2;
  for (int64_t j = 0; j < n; j += panelWidth) {
    const Bf16 *from = b + j * bN;
    float *to = panels + j * rows;
    int64_t columns = std::min(panelWidth, n - j);
    transpose((const Pair *)from, bN * (int64_t)sizeof(Bf16), columns, pairs, to, panelWidth);
    for (int64_t column = 0; pairs < rows && column < columns; ++column)
      to[pairs * panelWidth + column] = Pair{from[column * bN + k - 1], Bf16(0)};
    padPanel(to, rows, columns);
  }
}

XLC_AVX512 void packBlocks(const Bf16 *b, int64_t bK, int64_t bN, int64_t k, int64_t begin, int64_t end, Bf16 *blocks) {
  // Rows of b pass through the cache once: all blocks of the same terms, then the next terms.
  for (int64_t p = 0; p < k; p += blockTerms)
    for (int64_t j = begin; j < end; j += blockColumns) {
      const Bf16 *from = b + p * bK + j * bN;
      auto *to = (float *)(blocks + blockedElements(k, j) + p * blockColumns);
      int64_t terms = std::min(blockTerms, k - p), columns = std::min(blockColumns, end - j);
      if (terms == blockTerms && columns == blockColumns && (bK == 1 || bN == 1))
        packWholeBlock(from, bK, bN, to);
      else
        packOtherBlock(from, bK, bN, terms, columns, to);
    }
}

XLC_AVX512 void packTransposed(const Bf16 *a, int64_t aK, int64_t m, int64_t k, Bf16 *rows) {
  constexpr int64_t side = 32;
  for (int64_t p = 0; p < k; p += side)
    for (int64_t i = 0; i < m; i += side) {
      int64_t terms = std::min(side, k - p), count = std::min(side, m - i);
      if (terms < side || count < side) {
        for (int64_t r = i; r < i + count; ++r)
          for (int64_t q = p; q < p + terms; ++q)
            rows[r * k + q] = a[q * aK + r];
        continue;
      }
      float pairs[side / 2 * side];
      for (int64_t q = 0; q < side; q += 2)
        pairRows(a + (p + q) * aK + i, a + (p + q + 1) * aK + i, pairs + q / 2 * side);
      for (int64_t r = 0; r < side; r += 16)
        transposeBlock((const Pair *)pairs + r, side * sizeof(Pair), rows + (i + r) * k + p, k * sizeof(Bf16));
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
