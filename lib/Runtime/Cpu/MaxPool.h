// The largest element of each window, and its gradient: dy is added at the first of the largest elements.
#ifndef XLC_LIB_RUNTIME_CPU_MAXPOOL_H
#define XLC_LIB_RUNTIME_CPU_MAXPOOL_H

#include "Windows.h"

namespace xlc::runtime {

struct MaxPoolShape {
  bool backward;
  int64_t planes;
  std::vector<WindowDim> dims; ///< one to three
};

/// y of planes [begin, end), written or added.
void maxPool(const MaxPoolShape &shape, const float *x, float *y, bool add, int64_t begin, int64_t end);
/// dx of planes [begin, end), written or added.
void maxPoolBackward(const MaxPoolShape &shape, const float *x, const float *dy, float *dx, bool add, int64_t begin,
                     int64_t end);

} // namespace xlc::runtime

#endif
