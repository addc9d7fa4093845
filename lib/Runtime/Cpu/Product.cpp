// The blocked product: see Product.h. Blocks are sized for 48 kB of L1 and 1 MB of L2: a panel of B (256 x 32) and
// one of A (14 x 256) stay in L1 while a register tile runs down them, a block of A (336 x 256) stays in L2.
#include "Product.h"

#include "NarrowVector.h"

#include <algorithm>

namespace xlc::runtime {
namespace {

constexpr int64_t rowBlock = 336, columnBlock = 2048;
/// Columns that are computed aside at a time where c is narrow: 336 rows of them stay in L2.
constexpr int64_t narrowColumns = 512;

/// Adds up to a chunk of terms to one register tile: rows x (W vectors of N floats), from `panel` (a column offset into
/// panels of 32). `Number` is what the terms are summed in: float or double.
template <class Number, int64_t Rows, int64_t W, int64_t N>
XLC_INLINE void tileChunk(const float *a, int64_t aM, int64_t aK, const float *panel, int64_t k, float *c, int64_t cM,
                          bool add) {
  using Float = Vector<N>::Float;
  using Loose = Vector<N>::Loose;
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
      Sum value = (Number)left[i * aM] - Sum{}; // a broadcast: adding zeros is an addition, for -0
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
template <int64_t Rows, int64_t W, int64_t N>
XLC_INLINE void tile(const float *a, int64_t aM, int64_t aK, const float *panel, Depth k, float *c, int64_t cM,
                     bool add) {
  if (k.chunk == wideSum)
    return tileChunk<double, Rows, W, N>(a, aM, aK, panel, k.size, c, cM, add);
  for (int64_t p = 0; p < k.size; p += k.chunk)
    tileChunk<float, Rows, W, N>(a + p * aK, aM, aK, panel + p * panelWidth, std::min(k.chunk, k.size - p), c, cM,
                                 add || p > 0);
}

/// A tile whose columns stand partly outside c: computed aside, then copied.
template <int64_t Rows, int64_t W, int64_t N>
XLC_INLINE void tileEdge(const float *a, int64_t aM, int64_t aK, const float *panel, Depth k, float *c, int64_t cM,
                         int64_t columns, bool add) {
  float aside[Rows * W * N] = {};
  tile<Rows, W, N>(a, aM, aK, panel, k, aside, W * N, false);
  for (int i = 0; i < Rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      c[i * cM + j] = add ? c[i * cM + j] + aside[i * W * N + j] : aside[i * W * N + j];
}

template <int64_t Rows, int64_t W, int64_t N>
XLC_INLINE void tileOrEdge(const float *a, int64_t aM, int64_t aK, const float *panel, Depth k, float *c, int64_t cM,
                           int64_t columns, bool add) {
  if (columns >= W * N)
    tile<Rows, W, N>(a, aM, aK, panel, k, c, cM, add);
  else
    tileEdge<Rows, W, N>(a, aM, aK, panel, k, c, cM, columns, add);
}

/// All rows of one panel-wide (W * N columns) strip of c; `Rows` is a multiple of none: the rest is done by 4, 2, 1.
template <int64_t Rows, int64_t W, int64_t N>
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

template <int64_t Rows, int64_t W, int64_t N>
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

int64_t tileRows(bool isWide) {
  return findIsa() == Isa::Avx512 ? (isWide ? 12 : 14) : findIsa() == Isa::Avx2 && !isWide ? 6 : 4;
}

int64_t roundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

} // namespace

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

/// c block = a block * packed b, through packed rows of a where they will be used often or are no floats.
template <class T>
void multiplyBlock(const ProductShape &s, const T *a, const float *panels, int64_t m, int64_t n, int64_t k, float *c,
                   bool add, float *packed) {
  if constexpr (std::is_same_v<T, float>)
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

template <class T>
void multiplyContiguous(const ProductShape &s, const T *a, const T *b, float *c, bool add, float *panels,
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

/// How much of c is computed aside at a time: of a c of which neither rows nor columns are contiguous, and of one of
/// sixteen bits, whose sums are floats. None: c is computed in its place.
struct Aside {
  int64_t rows, columns;
};
Aside asideOf(const ProductShape &s) {
  if (s.result != FloatType::F32)
    return {std::min(s.m, rowBlock), std::min(s.n, narrowColumns)};
  if (s.cN == 1)
    return {0, s.n};
  return {std::min<int64_t>(s.m, std::max<int64_t>(1, (1 << 16) / s.n)), s.n};
}

int64_t panelBytes(const ProductShape &s) {
  return roundUp(panelFloats(std::min(s.k, depthBlock), std::min(asideOf(s).columns, columnBlock)) * 4, 64);
}
int64_t packedBytes(const ProductShape &s) {
  return roundUp(std::min(s.m, rowBlock) * std::min(s.k, depthBlock) * 4, 64);
}

/// Rows of floats, one after the other, to where c keeps them.
template <class T> void putAside(const ProductShape &part, const float *aside, T *c, int64_t cM, int64_t cN, bool add) {
  for (int64_t i = 0; i < part.m; ++i, aside += part.n, c += cM) {
    if constexpr (!std::is_same_v<T, float>)
      if (cN == 1) {
        narrowRow(aside, c, part.n);
        continue;
      }
    for (int64_t j = 0; j < part.n; ++j)
      c[j * cN] = T(add ? c[j * cN] + aside[j] : aside[j]);
  }
}

/// What is added to each row of a product, or, of a transposed one, to each column.
template <class R> struct Bias {
  const R *values = nullptr; ///< null: nothing
  bool isAlongRows = true;

  /// Rows of floats of c's part that begins at (i, j), to which the product is added.
  void fill(const ProductShape &part, int64_t i, int64_t j, float *aside) const {
    for (int64_t row = 0; row < part.m; ++row)
      for (int64_t column = 0; column < part.n; ++column)
        *aside++ = float(values[isAlongRows ? j + column : i + row]);
  }
};

template <class T, class R>
void multiplyAs(const ProductShape &s, const T *a, const T *b, Bias<R> bias, R *c, bool add, char *workspace) {
  float *panels = (float *)workspace, *packed = (float *)(workspace + panelBytes(s));
  Aside tile = asideOf(s);
  if constexpr (std::is_same_v<R, float>)
    if (tile.rows == 0)
      return multiplyContiguous(s, a, b, c, add, panels, packed);
  float *aside = (float *)(workspace + panelBytes(s) + packedBytes(s));
  for (int64_t j = 0; j < s.n; j += tile.columns)
    for (int64_t i = 0; i < s.m; i += tile.rows) {
      ProductShape part = s;
      part.m = std::min(tile.rows, s.m - i), part.n = std::min(tile.columns, s.n - j);
      part.cM = part.n, part.cN = 1;
      if (bias.values)
        bias.fill(part, i, j, aside);
      multiplyContiguous(part, a + i * s.aM, b + j * s.bN, aside, bias.values != nullptr, panels, packed);
      putAside(part, aside, c + i * s.cM + j * s.cN, s.cM, s.cN, add);
    }
}

} // namespace

int64_t productWorkspace(const ProductShape &shape) {
  ProductShape s = isTransposed(shape) ? transposed(shape) : shape;
  Aside tile = asideOf(s);
  return panelBytes(s) + packedBytes(s) + roundUp(tile.rows * tile.columns * 4, 64);
}

void multiply(const ProductShape &shape, const void *a, const void *b, void *c, bool add, char *workspace) {
  if (shape.result != FloatType::F32)
    return multiply(shape, a, b, nullptr, c, workspace);
  ProductShape s = shape;
  if (isTransposed(shape)) {
    s = transposed(shape);
    std::swap(a, b);
  }
  withType(s.operands, [&](auto type) {
    using T = decltype(type)::type;
    multiplyAs(s, (const T *)a, (const T *)b, Bias<float>(), (float *)c, add, workspace);
  });
}

void multiply(const ProductShape &shape, const void *a, const void *b, const void *bias, void *c, char *workspace) {
  bool isSwapped = isTransposed(shape);
  ProductShape s = isSwapped ? transposed(shape) : shape;
  if (isSwapped)
    std::swap(a, b);
  withType(s.operands, [&](auto type) {
    using T = decltype(type)::type;
    if constexpr (!std::is_same_v<T, float>)
      multiplyAs(s, (const T *)a, (const T *)b, Bias<T>{(const T *)bias, !isSwapped}, (T *)c, false, workspace);
  });
}

} // namespace xlc::runtime
