// Unfolds windows into a matrix, for products with weights, and back. The thread that owns an element finds its
// sources.
#include "Threads.h"

using namespace xlc::device;
using namespace xlc::runtime;

XLC_KERNEL xlc_columns(Global<const float> x, Global<float> columns, ColumnsParameters p) {
  const auto &[d0, d1, d2] = p.windows.dims;
  int64_t element = findThread(), matrixRow = element / p.windows.out, channel = matrixRow / p.windows.size;
  if (channel >= p.channels)
    return;
  int64_t k = matrixRow % p.windows.size, o = element % p.windows.out, row = o / d2.out;
  int64_t i0 = findInput(d0, row / d1.out, k / d2.size / d1.size);
  int64_t i1 = findInput(d1, row % d1.out, k / d2.size % d1.size);
  int64_t i2 = findInput(d2, o % d2.out, k % d2.size);
  bool isInside = i0 >= 0 && i1 >= 0 && i2 >= 0;
  columns[element] = isInside ? x[channel * p.windows.in + (i0 * d1.in + i1) * d2.in + i2] : 0;
}

XLC_KERNEL xlc_from_columns(Global<const float> columns, Global<float> x, ColumnsParameters p) {
  const auto &[d0, d1, d2] = p.windows.dims;
  int64_t input = findThread(), channel = input / p.windows.in;
  if (channel >= p.channels)
    return;
  columns += channel * p.windows.size * p.windows.out;
  int64_t i = input % p.windows.in, row = i / d2.in;
  float sum = p.adds ? x[input] : 0;
  for (int64_t k0 = 0; k0 < d0.size; ++k0) {
    int64_t o0 = findOutput(d0, row / d1.in, k0);
    for (int64_t k1 = 0; o0 >= 0 && k1 < d1.size; ++k1) {
      int64_t o1 = findOutput(d1, row % d1.in, k1);
      for (int64_t k2 = 0; o1 >= 0 && k2 < d2.size; ++k2) {
        int64_t o2 = findOutput(d2, i % d2.in, k2), k = (k0 * d1.size + k1) * d2.size + k2;
        if (o2 >= 0)
          sum += columns[k * p.windows.out + (o0 * d1.out + o1) * d2.out + o2];
      }
    }
  }
  x[input] = sum;
}
