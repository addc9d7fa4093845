// The windows of convolutions and pools: the elements of a plane in each window. One or two spatial dimensions are
// extended to three with leading dimensions of size 1. Included in device code: no standard library.
#ifndef XLC_RUNTIME_WINDOWS_H
#define XLC_RUNTIME_WINDOWS_H

#include <cstdint>

namespace xlc::runtime {

/// Windows along one spatial dimension: output o and window position k use element o * stride + k * dilation - pad of
/// `in` elements, if it exists.
struct WindowDim {
  int64_t in, out, size, stride, dilation, pad;
};

/// Three window dimensions, and the products of their sizes.
struct Windows {
  WindowDim dims[3] = {{1, 1, 1, 1, 1, 0}, {1, 1, 1, 1, 1, 0}, {1, 1, 1, 1, 1, 0}};
  int64_t in = 1, out = 1, size = 1;

  Windows() = default;
  /// `given`: one to three WindowDims.
  template <class Dims> explicit Windows(const Dims &given) {
    WindowDim *to = dims + 3 - given.size();
    for (const WindowDim &dim : given) {
      *to++ = dim;
      in *= dim.in, out *= dim.out, size *= dim.size;
    }
  }

  /// Whether all windows have one element, and together are the plane itself.
  bool arePlane() const {
    bool are = size == 1;
    for (const WindowDim &dim : dims)
      are &= dim.in == dim.out && dim.stride == 1 && dim.pad == 0;
    return are;
  }
};

/// The input at window position `k` of output `o`, or -1.
inline int64_t findInput(const WindowDim &dim, int64_t o, int64_t k) {
  int64_t i = o * dim.stride + k * dim.dilation - dim.pad;
  return i >= 0 && i < dim.in ? i : -1;
}

/// The output whose window position `k` is at input `i`, or -1; it decreases as k increases.
inline int64_t findOutput(const WindowDim &dim, int64_t i, int64_t k) {
  int64_t shifted = i + dim.pad - k * dim.dilation;
  return shifted >= 0 && shifted % dim.stride == 0 && shifted / dim.stride < dim.out ? shifted / dim.stride : -1;
}

/// The largest element of plane `x` in the window at output (o0, o1, o2): the first in row-major order that no later
/// element exceeds; a NaN exceeds all other values.
template <class Plane> int64_t findLargest(const Windows &w, Plane x, int64_t o0, int64_t o1, int64_t o2) {
  const auto &[d0, d1, d2] = w.dims;
  int64_t largest = -1;
  for (int64_t k0 = 0; k0 < d0.size; ++k0) {
    int64_t i0 = findInput(d0, o0, k0);
    for (int64_t k1 = 0; i0 >= 0 && k1 < d1.size; ++k1) {
      int64_t i1 = findInput(d1, o1, k1);
      for (int64_t k2 = 0; i1 >= 0 && k2 < d2.size; ++k2) {
        int64_t i2 = findInput(d2, o2, k2), at = (i0 * d1.in + i1) * d2.in + i2;
        if (i2 >= 0 && (largest < 0 || x[at] > x[largest] || (x[at] != x[at] && x[largest] == x[largest])))
          largest = at;
      }
    }
  }
  return largest;
}

} // namespace xlc::runtime

#endif
