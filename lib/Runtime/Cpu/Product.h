// Matrix products of any strides, on one thread, without allocating.
//
// oneDNN's fast path requires dense operands; its other path allocates megabytes in every call. Slices of the output of
// one thread, and the tiles of attention, are strided: those products are computed here. The method is the usual one
// (Goto and van de Geijn, 2008): pack B in panels of 32 columns, A in panels of rows, and keep a tile of C in
// registers. The order of additions of an element of C depends on K only: chunks of terms are summed, then their sums,
// which rounds half as much as one long sum if chunks are short. Operands of sixteen bits are converted to floats when
// they are packed; a result of sixteen bits is summed in separate memory and rounded once.
#ifndef XLC_LIB_RUNTIME_CPU_PRODUCT_H
#define XLC_LIB_RUNTIME_CPU_PRODUCT_H

#include "Packing.h"

#include "xlc/Runtime/LibraryShapes.h"

namespace xlc::runtime {

/// The number of terms of a chunk if accuracy has priority over the last percent of speed.
constexpr int64_t shortChunk = 16;
/// Replaces the size of a chunk: all terms are summed in double, at half the speed.
constexpr int64_t wideSum = 0;

/// The chunk of a product with this number of multiplications. Adam amplifies the effect of rounding on gradients near
/// zero, so small models, whose products take no time, use sums as accurate as their results can represent.
constexpr int64_t chunkFor(int64_t multiplications) {
  return multiplications <= 1 << 21 ? wideSum : multiplications <= 1 << 24 ? shortChunk : depthBlock;
}

/// The number of terms of a sum, and the number that are summed before they are added to the result.
struct Depth {
  int64_t size, chunk;
  Depth(int64_t size, int64_t chunk = shortChunk) : size(size), chunk(chunk) {}
};

/// Panels packed from b[depth, n], of which a product uses the first rows.
struct Panels {
  const float *data;
  int64_t depth;
};

/// c[m, n] = a[m, k] * first k rows of the panels (+ c where `add`). Rows of c are contiguous, `cM` elements apart.
void multiplyPanels(const float *a, int64_t aM, int64_t aK, Panels panels, int64_t m, int64_t n, Depth k, float *c,
                    int64_t cM, bool add);

/// Sizes and strides (elements) of c[m, n] = a[m, k] b[k, n].
struct ProductShape {
  int64_t m, n, k, aM, aK, bK, bN, cM, cN;
  int64_t chunk = depthBlock; ///< terms summed before they are added to c
  FloatType operands = FloatType::F32, result = FloatType::F32;
};

/// The same product as that of the transposes.
constexpr ProductShape transposed(const ProductShape &s) {
  return {s.n, s.m, s.k, s.bN, s.bK, s.aK, s.aM, s.cN, s.cM, s.chunk, s.operands, s.result};
}

/// The bytes of scratch of `multiply` for this shape.
int64_t productWorkspace(const ProductShape &shape);

/// c = a b (+ c where `add`, of f32 only), with scratch of `productWorkspace` bytes, 64-byte aligned.
void multiply(const ProductShape &shape, const void *a, const void *b, void *c, bool add, char *workspace);

/// c = a b + bias[n], of which c and the bias have sixteen bits; rounded once. Scratch as above.
void multiply(const ProductShape &shape, const void *a, const void *b, const void *bias, void *c, char *workspace);

} // namespace xlc::runtime

#endif
