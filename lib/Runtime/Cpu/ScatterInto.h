// y = base, except for y[outer, indices[i], :], which updates change in ascending i for every element, whatever the
// number of threads.
#ifndef XLC_LIB_RUNTIME_CPU_SCATTERINTO_H
#define XLC_LIB_RUNTIME_CPU_SCATTERINTO_H

#include "xlc/Runtime/ScatterKind.h"

#include <cstdint>

namespace xlc::runtime {

/// base and y: [outer, rows, width], updates: [outer, indices, width]. Indices: [distinct, indices], or [distinct,
/// indices, width] where every element has its own (`perElement`); outer o reads list o % distinct.
struct ScatterIntoShape {
  enum class Element { F32, I32, I64 };

  ScatterKind kind;
  int64_t outer, distinct, indices, rows, width;
  bool perElement;
  bool wideIndex; ///< i64, else i32
  Element element = Element::F32;
};

/// Computes rows [begin, end) of the outer * rows of y. Throws std::out_of_range for an index outside [0, rows).
void scatterInto(const ScatterIntoShape &shape, const void *base, const void *indices, const void *updates, void *y,
                 int64_t begin, int64_t end);

} // namespace xlc::runtime

#endif
