// Max pools without atomics: the thread that owns an element of dx checks for each window that contains it, in the
// order of the windows, whether the element is the window's largest; so the bits are those of the CPU. A window is
// searched once for each element that it contains.
#include "Threads.h"

using namespace xlc::device;
using namespace xlc::runtime;

XLC_KERNEL xlc_max_pool(Global<const float> x, Global<float> y, MaxPoolParameters p) {
  const auto &[d0, d1, d2] = p.windows.dims;
  int64_t output = findThread(), plane = output / p.windows.out;
  if (plane >= p.planes)
    return;
  x += plane * p.windows.in;
  int64_t o = output % p.windows.out, row = o / d2.out;
  float largest = x[findLargest(p.windows, x, row / d1.out, row % d1.out, o % d2.out)];
  y[output] = p.adds ? y[output] + largest : largest;
}

XLC_KERNEL xlc_max_pool_backward(Global<const float> x, Global<const float> dy, Global<float> dx, MaxPoolParameters p) {
  const auto &[d0, d1, d2] = p.windows.dims;
  int64_t input = findThread(), plane = input / p.windows.in;
  if (plane >= p.planes)
    return;
  x += plane * p.windows.in;
  dy += plane * p.windows.out;
  int64_t i = input % p.windows.in, row = i / d2.in;
  float sum = p.adds ? dx[input] : 0;
  for (int64_t k0 = d0.size; k0-- > 0;) {
    int64_t o0 = findOutput(d0, row / d1.in, k0);
    for (int64_t k1 = d1.size; o0 >= 0 && k1-- > 0;) {
      int64_t o1 = findOutput(d1, row % d1.in, k1);
      for (int64_t k2 = d2.size; o1 >= 0 && k2-- > 0;) {
        int64_t o2 = findOutput(d2, i % d2.in, k2);
        if (o2 >= 0 && findLargest(p.windows, x, o0, o1, o2) == i)
          sum += dy[(o0 * d1.out + o1) * d2.out + o2];
      }
    }
  }
  dx[input] = sum;
}
