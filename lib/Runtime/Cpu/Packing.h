// Packs blocks of a matrix of any strides and float type as the floats that the tiles of Product.h read; and operands
// of bf16 in the layout that oneDNN's kernels use without a copy.
#ifndef XLC_LIB_RUNTIME_CPU_PACKING_H
#define XLC_LIB_RUNTIME_CPU_PACKING_H

#include "xlc/Runtime/Narrow.h"

#include <cstdint>

namespace xlc::runtime {

/// The number of columns of a packed panel of B.
constexpr int64_t panelWidth = 32;
/// The number of terms that are in the cache together: the longest chunk.
constexpr int64_t depthBlock = 256;

/// The number of floats that `packPanels` writes for b[k, n].
constexpr int64_t panelFloats(int64_t k, int64_t n) { return k * ((n + panelWidth - 1) / panelWidth) * panelWidth; }

/// Packs b[k, n] (strides in elements) in panels of 32 columns, the last one filled with zeros. T: float, Bf16 or Half.
template <class T> void packPanels(const T *b, int64_t bK, int64_t bN, int64_t k, int64_t n, float *panels);

/// Packs b[k, n], of which a column's terms lie side by side and columns `bN` elements apart, in panels as above: in
/// the place of each float are two terms of a column, an odd last one beside a zero. Only where `multipliesBf16`.
void packPairs(const Bf16 *b, int64_t bN, int64_t k, int64_t n, float *panels);

/// The terms and columns of a block: oneDNN's right operands of bf16 are such blocks (its format BA16a64b2a), the
/// blocks of the same columns one after the other. A block is pairs of terms as above.
constexpr int64_t blockTerms = 32, blockColumns = 64;

/// Elements that `packBlocks` writes for blocks of columns of b[k, n], all of them.
constexpr int64_t blockedElements(int64_t k, int64_t n) {
  return (k + blockTerms - 1) / blockTerms * blockTerms * ((n + blockColumns - 1) / blockColumns * blockColumns);
}

/// Packs columns [begin, end) of b[k, n] (strides in elements) to their place among the blocks, of which what lies
/// outside b is zeros; `begin` is a multiple of blockColumns, and so is `end` but for n. Only where `multipliesBf16`.
void packBlocks(const Bf16 *b, int64_t bK, int64_t bN, int64_t k, int64_t begin, int64_t end, Bf16 *blocks);

/// Rows of a[m, k], one after the other, where its columns are contiguous, `aK` elements apart. Only where
/// `multipliesBf16`.
void packTransposed(const Bf16 *a, int64_t aK, int64_t m, int64_t k, Bf16 *rows);

/// Packs a[m, k], k <= depthBlock, in panels of `rows` <= 16 rows, each as k groups of `rows` floats.
template <class T> void packRows(const T *a, int64_t aM, int64_t aK, int64_t m, int64_t k, int64_t rows, float *to);

} // namespace xlc::runtime

#endif
