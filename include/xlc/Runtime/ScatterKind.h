// The result of a scatter for an element with updates, for the runtime and for device code (lib/Lower/Device), which is
// compiled without a standard library.
#ifndef XLC_RUNTIME_SCATTERKIND_H
#define XLC_RUNTIME_SCATTERKIND_H

#include <cstdint>

namespace xlc::runtime {

/// Numbers and names are those of graph.Scatter and of the plan (EmitTests).
enum class ScatterKind : int64_t {
  Last, ///< the last update, in the order of the indices
  Max,  ///< the largest of the previous value and all updates; NaN propagates
  Min,  ///< the smallest
};

/// Applies one more update to `there`.
template <class Element> void putUpdate(ScatterKind kind, Element &there, Element update) {
  bool isBeyond = kind == ScatterKind::Max ? there < update : update < there;
  if (kind == ScatterKind::Last || isBeyond || update != update)
    there = update;
}

} // namespace xlc::runtime

#endif
