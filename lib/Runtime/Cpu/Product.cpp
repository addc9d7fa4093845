// The blocked product: see Product.h. Blocks are sized for 48 kB of L1 and 1 MB of L2: a panel of B (256 x 32) and
// one of A (14 x 256) stay in L1 while a register tile runs down them, a block of A (336 x 256) stays in L2.
#include "Product.h"

#include "Vector.h"

#include <algorithm>

namespace xlc::runtime {
namespace {

constexpr int64_t rowBlock = 336, columnBlock = 2048;

/// Adds up to a chunk of terms to one register tile: rows x (W vectors of N floats), from `panel` (a column offset into
/// panels of 32). `Number` is what the terms are summed in: float or double.
template <class Number, int Rows, int W, int N>
XLC_INLINE void tileChunk(const float *a, int64_t aM, int64_t aK, const float *panel, int64_t k, float *c, int64_t cM,
                          bool add) {
  using Float = typename Vector<N>::Float;
  using Loose = typename Vector<N>::Loose;
  typedef Number Sum __attribute__((vector_size(N * sizeof(Number))));
  Sum sum[Rows][W] = {};
  for (int64_t p = 0; p < k; ++p) {
    Sum right[W];
#pragma GCC unroll 4
    for (int w = 0; w < W; ++w)
      right[w] = __builtin_convertvector((Float) * (const Loose *)(panel + p * panelWidth + w * N), Sum);
    const float *left = a + p * aK;
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      Sum value = Sum{} + (Number)left[i * aM];
#pragma GCC unroll 4
      for (int w = 0; w < W; ++w)
        sum[i][w] += value * right[w];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int w = 0; w < W; ++w) {
      Loose *out = (Loose *)(c + i * cM + w * N);
      Sum total = add ? __builtin_convertvector((Float)*out, Sum) + sum[i][w] : sum[i][w];
      *out = __builtin_convertvector(total, Float);
    }
}

/// One register tile, `k.chunk` terms at a time.
template <int Rows, int W, int N>
XLC_INLINE void tile(const float *a, int64_t aM, int64_t aK, const float *panel, Depth k, float *c, int64_t cM,
                     bool add) {
  if (k.chunk == wideSum)
    return tileChunk<double, Rows, W, N>(a, aM, aK, panel, k.size, c, cM, add);
  for (int64_t p = 0; p < k.size; p += k.chunk)
    tileChunk<float, Rows, W, N>(a + p * aK, aM, aK, panel + p * panelWidth, std::min(k.chunk, k.size - p), c, cM,
                                 add || p > 0);
}

/// A tile whose columns stand partly outside c: computed aside, then copied.
template <int Rows, int W, int N>
XLC_INLINE void tileEdge(const float *a, int64_t aM, int64_t aK, const float *panel, Depth k, float *c, int64_t cM,
                         int64_t columns, bool add) {
  float aside[Rows * W * N];
  tile<Rows, W, N>(a, aM, aK, panel, k, aside, W * N, false);
  for (int i = 0; i < Rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      c[i * cM + j] = add ? c[i * cM + j] + aside[i * W * N + j] : aside[i * W * N + j];
}

template <int Rows, int W, int N>
XLC_INLINE void tileOrEdge(const float *a, int64_t aM, int64_t aK, const float *panel, Depth k, float *c, int64_t cM,
                           int64_t columns, bool add) {
  if (columns >= W * N)
    tile<Rows, W, N>(a, aM, aK, panel, k, c, cM, add);
  else
    tileEdge<Rows, W, N>(a, aM, aK, panel, k, c, cM, columns, add);
}

/// All rows of one panel-wide (W * N columns) strip of c; `Rows` is a multiple of none: the rest is done by 4, 2, 1.
template <int Rows, int W, int N>
XLC_INLINE void strip(const float *a, int64_t aM, int64_t aK, const float *panel, int64_t m, Depth k, float *c,
                      int64_t cM, int64_t columns, bool add) {
  int64_t i = 0;
  for (; i + Rows <= m; i += Rows)
    tileOrEdge<Rows, W, N>(a + i * aM, aM, aK, panel, k, c + i * cM, cM, columns, add);
  if constexpr (Rows > 8)
    for (; i + 8 <= m; i += 8)
      tileOrEdge<8, W, N>(a + i * aM, aM, aK, panel, k, c + i * cM, cM, columns, add);
  for (; i + 4 <= m; i += 4)
    tileOrEdge<4, W, N>(a + i * aM, aM, aK, panel, k, c + i * cM, cM, columns, add);
  for (; i < m; ++i)
    tileOrEdge<1, W, N>(a + i * aM, aM, aK, panel, k, c + i * cM, cM, columns, add);
}

template <int Rows, int W, int N>
XLC_INLINE void multiplyStrips(const float *a, int64_t aM, int64_t aK, Panels panels, int64_t m, int64_t n, Depth k,
                               float *c, int64_t cM, bool add) {
  for (int64_t j = 0; j < n; j += W * N) {
    const float *panel = panels.data + j / panelWidth * panelWidth * panels.depth + j % panelWidth;
    if (W > 1 && n - j <= N)
      strip<Rows, 1, N>(a, aM, aK, panel, m, k, c + j, cM, n - j, add);
    else
      strip<Rows, W, N>(a, aM, aK, panel, m, k, c + j, cM, n - j, add);
  }
}

XLC_AVX512 void multiplyAvx512(const float *a, int64_t aM, int64_t aK, Panels panels, int64_t m, int64_t n, Depth k,
                               float *c, int64_t cM, bool add) {
  if (k.chunk == wideSum) // doubles take two registers
    multiplyStrips<6, 2, 16>(a, aM, aK, panels, m, n, k, c, cM, add);
  else
    multiplyStrips<14, 2, 16>(a, aM, aK, panels, m, n, k, c, cM, add);
}
XLC_AVX2 void multiplyAvx2(const float *a, int64_t aM, int64_t aK, Panels panels, int64_t m, int64_t n, Depth k,
                           float *c, int64_t cM, bool add) {
  if (k.chunk == wideSum)
    multiplyStrips<4, 1, 8>(a, aM, aK, panels, m, n, k, c, cM, add);
  else
    multiplyStrips<6, 2, 8>(a, aM, aK, panels, m, n, k, c, cM, add);
}
void multiplyBaseline(const float *a, int64_t aM, int64_t aK, Panels panels, int64_t m, int64_t n, Depth k, float *c,
                      int64_t cM, bool add) {
  multiplyStrips<4, 2, 4>(a, aM, aK, panels, m, n, k, c, cM, add);
}

/// 16 x 16 elements, from[i * stride + j] to to[j * toStride + i].
XLC_INLINE void transposeBlock(const float *from, int64_t stride, float *to, int64_t toStride) {
  using Float = Vector<16>::Float;
  using Loose = Vector<16>::Loose;
  Float rows[16], next[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    rows[i] = *(const Loose *)(from + i * stride);
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
XLC_INLINE void transpose(const float *from, int64_t stride, int64_t m, int64_t n, float *to, int64_t toStride) {
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
XLC_AVX512 void transposeAvx512(const float *from, int64_t stride, int64_t m, int64_t n, float *to, int64_t toStride) {
  transpose(from, stride, m, n, to, toStride);
}
XLC_AVX2 void transposeAvx2(const float *from, int64_t stride, int64_t m, int64_t n, float *to, int64_t toStride) {
  transpose(from, stride, m, n, to, toStride);
}
void transposeAny(const float *from, int64_t stride, int64_t m, int64_t n, float *to, int64_t toStride) {
  switch (findIsa()) {
  case Isa::Avx512:
    return transposeAvx512(from, stride, m, n, to, toStride);
  case Isa::Avx2:
    return transposeAvx2(from, stride, m, n, to, toStride);
  case Isa::Baseline:
    return transpose(from, stride, m, n, to, toStride);
  }
}

/// Packs columns [0, n) of b, n <= Width, as rows of `Width` floats.
template <int64_t Width> void packPanel(const float *b, int64_t bK, int64_t bN, int64_t k, int64_t n, float *to) {
  if (bN == 1 && n == Width)
    for (int64_t p = 0; p < k; ++p)
      std::memcpy(to + p * Width, b + p * bK, Width * sizeof(float));
  else if (bK == 1 && bN != 1)
    transposeAny(b, bN, n, k, to, Width);
  else
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j)
        to[p * Width + j] = b[p * bK + j * bN];
  if (n < Width)
    for (int64_t p = 0; p < k; ++p)
      std::memset(to + p * Width + n, 0, (Width - n) * sizeof(float));
}

int64_t tileRows(bool isWide) {
  return findIsa() == Isa::Avx512 ? (isWide ? 12 : 14) : findIsa() == Isa::Avx2 && !isWide ? 6 : 4;
}

/// Packs a[m, k] in panels of `rows` rows, each as k groups of `rows` floats.
void packRows(const float *a, int64_t aM, int64_t aK, int64_t m, int64_t k, int64_t rows, float *to) {
  for (int64_t i = 0; i < m; i += rows, to += rows * k) {
    int64_t count = std::min(rows, m - i);
    if (aM == 1 && aK != 1)
      for (int64_t p = 0; p < k; ++p)
        std::memcpy(to + p * count, a + p * aK + i, count * sizeof(float));
    else
      for (int64_t p = 0; p < k; ++p)
        for (int64_t r = 0; r < count; ++r)
          to[p * count + r] = a[(i + r) * aM + p * aK];
  }
}

int64_t roundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

} // namespace

void packPanels(const float *b, int64_t bK, int64_t bN, int64_t k, int64_t n, float *panels) {
  for (int64_t j = 0; j < n; j += panelWidth)
    packPanel<panelWidth>(b + j * bN, bK, bN, k, std::min(panelWidth, n - j), panels + j * k);
}

void multiplyPanels(const float *a, int64_t aM, int64_t aK, Panels panels, int64_t m, int64_t n, Depth k, float *c,
                    int64_t cM, bool add) {
  switch (findIsa()) {
  case Isa::Avx512:
    return multiplyAvx512(a, aM, aK, panels, m, n, k, c, cM, add);
  case Isa::Avx2:
    return multiplyAvx2(a, aM, aK, panels, m, n, k, c, cM, add);
  case Isa::Baseline:
    return multiplyBaseline(a, aM, aK, panels, m, n, k, c, cM, add);
  }
}

namespace {

/// Whether c is better computed as its transpose: rows of c must be contiguous.
bool isTransposed(const ProductShape &s) { return s.cN != 1 && s.cM == 1; }
ProductShape transposed(const ProductShape &s) { return {s.n, s.m, s.k, s.bN, s.bK, s.aK, s.aM, s.cN, s.cM, s.chunk}; }

/// c block = a block * packed b, through packed rows of a where they will be used often.
void multiplyBlock(const ProductShape &s, const float *a, const float *panels, int64_t m, int64_t n, int64_t k,
                   float *c, bool add, float *packed) {
  if (s.aK == 1 && n <= 2 * panelWidth)
    return multiplyPanels(a, s.aM, s.aK, {panels, k}, m, n, {k, s.chunk}, c, s.cM, add);
  int64_t rows = tileRows(s.chunk == wideSum);
  packRows(a, s.aM, s.aK, m, k, rows, packed);
  for (int64_t j = 0; j < n; j += panelWidth)
    for (int64_t i = 0; i < m; i += rows) {
      int64_t count = std::min(rows, m - i);
      multiplyPanels(packed + i * k, 1, count, {panels + j * k, k}, count, std::min(panelWidth, n - j), {k, s.chunk},
                     c + i * s.cM + j, s.cM, add);
    }
}

void multiplyContiguous(const ProductShape &s, const float *a, const float *b, float *c, bool add, float *panels,
                        float *packed) {
  for (int64_t j = 0; j < s.n; j += columnBlock)
    for (int64_t p = 0; p < s.k; p += depthBlock) {
      int64_t n = std::min(columnBlock, s.n - j), k = std::min(depthBlock, s.k - p);
      packPanels(b + p * s.bK + j * s.bN, s.bK, s.bN, k, n, panels);
      for (int64_t i = 0; i < s.m; i += rowBlock)
        multiplyBlock(s, a + i * s.aM + p * s.aK, panels, std::min(rowBlock, s.m - i), n, k, c + i * s.cM + j,
                      add || p > 0, packed);
    }
}

int64_t panelBytes(const ProductShape &s) {
  return roundUp(panelFloats(std::min(s.k, depthBlock), std::min(s.n, columnBlock)) * 4, 64);
}
int64_t packedBytes(const ProductShape &s) {
  return roundUp(std::min(s.m, rowBlock) * std::min(s.k, depthBlock) * 4, 64);
}
/// A c of which neither rows nor columns are contiguous is computed aside, this many rows at a time.
int64_t asideRows(const ProductShape &s) { return std::min<int64_t>(s.m, std::max<int64_t>(1, (1 << 16) / s.n)); }

} // namespace

int64_t productWorkspace(const ProductShape &shape) {
  ProductShape s = isTransposed(shape) ? transposed(shape) : shape;
  int64_t aside = s.cN == 1 ? 0 : roundUp(asideRows(s) * s.n * 4, 64);
  return panelBytes(s) + packedBytes(s) + aside;
}

void multiply(const ProductShape &shape, const float *a, const float *b, float *c, bool add, char *workspace) {
  ProductShape s = shape;
  if (isTransposed(shape)) {
    s = transposed(shape);
    std::swap(a, b);
  }
  float *panels = (float *)workspace, *packed = (float *)(workspace + panelBytes(s));
  if (s.cN == 1)
    return multiplyContiguous(s, a, b, c, add, panels, packed);
  float *aside = (float *)(workspace + panelBytes(s) + packedBytes(s));
  int64_t rows = asideRows(s);
  for (int64_t i = 0; i < s.m; i += rows) {
    ProductShape part = s;
    part.m = std::min(rows, s.m - i), part.cM = s.n, part.cN = 1;
    multiplyContiguous(part, a + i * s.aM, b, aside, false, panels, packed);
    for (int64_t r = 0; r < part.m; ++r)
      for (int64_t j = 0; j < s.n; ++j) {
        float &out = c[(i + r) * s.cM + j * s.cN];
        out = add ? out + aside[r * s.n + j] : aside[r * s.n + j];
      }
  }
}

} // namespace xlc::runtime
