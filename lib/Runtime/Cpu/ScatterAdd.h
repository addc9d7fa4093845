// y[outer, indices[i], :] += updates[outer, i, :], in ascending i for every element, whatever the number of threads.
#ifndef XLC_LIB_RUNTIME_CPU_SCATTERADD_H
#define XLC_LIB_RUNTIME_CPU_SCATTERADD_H

#include "xlc/Runtime/LibraryShapes.h"

#include <cstdint>

namespace xlc::runtime {

/// y: [outer, rows, width], updates: [outer, indices, width]. Indices: [distinct, indices], or [distinct, indices,
/// width] where every element has its own (`perElement`); outer o reads list o % distinct.
struct ScatterAddShape {
  int64_t outer, distinct, indices, rows, width;
  bool perElement;
  bool wideIndex;                    ///< i64, else i32
  FloatType result = FloatType::F32; ///< of y; another than F32 only where elements have no index of their own
};

/// Computes rows [begin, end) of the outer * rows of y: clears them unless `add`, then adds their updates. Results of
/// sixteen bits are summed as floats and rounded once; they cannot be accumulated. Throws std::out_of_range for an
/// index outside [0, rows).
void scatterAdd(const ScatterAddShape &shape, const void *indices, const float *updates, void *y, bool add,
                int64_t begin, int64_t end);

} // namespace xlc::runtime

#endif
