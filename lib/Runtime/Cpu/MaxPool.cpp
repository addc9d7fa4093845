// See MaxPool.h. A thread owns planes. Forward and backward select the same element.
#include "MaxPool.h"

#include <cstring>

namespace xlc::runtime {
namespace {

/// visit(output, largest element) for the windows of a plane.
template <class Visit> void forEachLargest(const Windows &w, const float *x, Visit visit) {
  int64_t output = 0;
  for (int64_t o0 = 0; o0 < w.dims[0].out; ++o0)
    for (int64_t o1 = 0; o1 < w.dims[1].out; ++o1)
      for (int64_t o2 = 0; o2 < w.dims[2].out; ++o2)
        visit(output++, findLargest(w, x, o0, o1, o2));
}

} // namespace

void maxPool(const MaxPoolShape &shape, const float *x, float *y, bool add, int64_t begin, int64_t end) {
  Windows w(shape.dims);
  for (int64_t plane = begin; plane < end; ++plane) {
    const float *from = x + plane * w.in;
    float *to = y + plane * w.out;
    forEachLargest(w, from, [&](int64_t o, int64_t at) { to[o] = add ? to[o] + from[at] : from[at]; });
  }
}

void maxPoolBackward(const MaxPoolShape &shape, const float *x, const float *dy, float *dx, bool add, int64_t begin,
                     int64_t end) {
  Windows w(shape.dims);
  if (!add)
    std::memset(dx + begin * w.in, 0, (end - begin) * w.in * 4);
  for (int64_t plane = begin; plane < end; ++plane)
    forEachLargest(w, x + plane * w.in, [&](int64_t o, int64_t at) { dx[plane * w.in + at] += dy[plane * w.out + o]; });
}

} // namespace xlc::runtime
