// See Bf16Product.h. A register tile is 14 rows x 32 columns, as in Product.h; rows of A are read in place.
#include "Bf16Product.h"

#include "Vector.h"

#include <algorithm>

#include <immintrin.h>

namespace xlc::runtime {
namespace {

/// Terms that are summed before they are added to c: 32 steps, all that a head of 64 features has. The rms error of
/// such sums is 0.9 * 2^-24 of theirs, and 0.7 with the 16 terms of `shortChunk`, which take attention 2 % more time.
/// Sums that must be more exact are not made here.
constexpr int64_t pairChunk = 64;
constexpr int64_t vectors = panelWidth / 16;

using Float = Vector<16>::Float;
using Loose = Vector<16>::Loose;

/// Adds what terms of some rows give with those of 32 columns. `Terms` are the bits of two terms of a row, or of one.
template <class Terms, int64_t Rows>
XLC_AVX512_BF16 XLC_INLINE void addTerms(const Bf16 *a, int64_t aM, const float *pairs, Float (&sum)[Rows][vectors]) {
  Float right[vectors];
#pragma GCC unroll 2
  for (int64_t w = 0; w < vectors; ++w)
    right[w] = *(const Loose *)(pairs + w * 16);
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    Terms terms;
    std::memcpy(&terms, a + i * aM, sizeof(terms));
    __m512i left = _mm512_set1_epi32((int)terms);
#pragma GCC unroll 2
    for (int64_t w = 0; w < vectors; ++w)
      sum[i][w] = _mm512_dpbf16_ps(sum[i][w], (__m512bh)left, (__m512bh)right[w]);
  }
}

/// Up to a chunk of terms of one register tile.
template <int64_t Rows>
XLC_AVX512_BF16 XLC_INLINE void tileChunk(const Bf16 *a, int64_t aM, const float *panel, int64_t k, float *c,
                                          int64_t cM, bool add) {
  Float sum[Rows][vectors] = {};
  int64_t p = 0;
  for (; p + 2 <= k; p += 2)
    addTerms<uint32_t>(a + p, aM, panel + p / 2 * panelWidth, sum);
  if (p < k)
    addTerms<uint16_t>(a + p, aM, panel + p / 2 * panelWidth, sum);
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
    for (int64_t w = 0; w < vectors; ++w) {
      Loose *out = (Loose *)(c + i * cM + w * 16);
      *out = add ? *out + sum[i][w] : sum[i][w];
    }
}

template <int64_t Rows>
XLC_AVX512_BF16 XLC_INLINE void tile(const Bf16 *a, int64_t aM, const float *panel, int64_t k, float *c, int64_t cM) {
  for (int64_t p = 0; p < k; p += pairChunk)
    tileChunk<Rows>(a + p, aM, panel + p / 2 * panelWidth, std::min(pairChunk, k - p), c, cM, p > 0);
}

} // namespace

XLC_AVX512_BF16 void multiplyPairs(const Bf16 *a, int64_t aM, const float *panels, int64_t m, int64_t n, int64_t k,
                                   float *c, int64_t cM) {
  for (int64_t j = 0; j < n; j += panelWidth, panels += panelFloats((k + 1) / 2, panelWidth)) {
    int64_t i = 0;
    for (; i + 14 <= m; i += 14)
      tile<14>(a + i * aM, aM, panels, k, c + i * cM + j, cM);
    for (; i + 8 <= m; i += 8)
      tile<8>(a + i * aM, aM, panels, k, c + i * cM + j, cM);
    for (; i + 4 <= m; i += 4)
      tile<4>(a + i * aM, aM, panels, k, c + i * cM + j, cM);
    for (; i < m; ++i)
      tile<1>(a + i * aM, aM, panels, k, c + i * cM + j, cM);
  }
}

} // namespace xlc::runtime
