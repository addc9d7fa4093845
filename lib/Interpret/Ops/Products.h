// y[m, n] = sum over k of a[m, k] b[k, n]: the interpreter spends nearly all of its time here.
//
// Operands are first packed, so that the terms of a sum are contiguous for any einsum, and the result is split into
// blocks that are held in registers over the whole sum. Blocks are independent: all cores take part, and a result does
// not depend on their number. In the field sums are exact; in double precision products of floats are.
#ifndef XLC_LIB_INTERPRET_OPS_PRODUCTS_H
#define XLC_LIB_INTERPRET_OPS_PRODUCTS_H

#include "xlc/Interpret/Bounded.h"
#include "llvm/ADT/ArrayRef.h"

namespace xlc::interpret {

/// The positions of the elements of one matrix of a batch: row i, column j at rows[i] + columns[j] + the batch's own
/// offset.
struct MatrixPlaces {
  std::vector<int64_t> rows, columns;
};

/// All matrices of a batch; `batch` has the offsets of each in a, b and y.
struct Product {
  std::vector<std::array<int64_t, 3>> batch;
  MatrixPlaces a, b, y;
};

/// Fills y.
template <class E> void multiply(const Product &product, const E *a, const E *b, E *y);

} // namespace xlc::interpret

#endif
