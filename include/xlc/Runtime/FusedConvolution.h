// Convolutions that a GPU's library does in one call, all images and groups: which. Compiler and runtime ask here.
#ifndef XLC_RUNTIME_FUSEDCONVOLUTION_H
#define XLC_RUNTIME_FUSEDCONVOLUTION_H

#include "xlc/Runtime/LibraryShapes.h"
#include "xlc/Runtime/Windows.h"

#include <algorithm>
#include <optional>

namespace xlc::runtime {

/// Padding behind the last element, such that windows end where the convolution's do; none where the library would see others.
inline std::optional<int64_t> padBehind(const WindowDim &d) {
  int64_t reach = (d.size - 1) * d.dilation + 1;
  int64_t pad = std::max<int64_t>(0, (d.out - 1) * d.stride + reach - d.in - d.pad);
  return (d.in + d.pad + pad - reach) / d.stride + 1 == d.out ? std::optional(pad) : std::nullopt;
}

/// Windows of one or two dimensions, in one of the library's ways to pad.
inline bool isFusedConvolution(const ConvolutionShape &s) {
  const Windows windows(s.dims);
  const auto &[depth, rows, columns] = windows.dims;
  bool isPlane = depth.in == 1 && depth.out == 1 && depth.size == 1 && depth.pad == 0;
  return isPlane && padBehind(rows) && padBehind(columns);
}

} // namespace xlc::runtime

#endif
