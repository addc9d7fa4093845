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

/// Bytes that the library's engines of sixteen bits for tensor cores ask for: copies of x, w and y whose channels are neighbours, and as
/// many as a multiple of eight; unittests/Cuda/FusedConvolutionTest.cpp. With less it has engines without tensor cores. `Number` holds
/// what sizes multiply to.
template <class Number> Number fusedConvolutionBytes(const ConvolutionShape &s) {
  constexpr int64_t kChannels = 8, kRest = 2 << 20;
  auto padded = [](int64_t channels) { return (channels + kChannels - 1) / kChannels * kChannels; };
  Number x = padded(s.inputs * s.groups), y = padded(s.outputs * s.groups), w = padded(s.inputs);
  x = x * s.batch, y = y * s.batch, w = w * (s.outputs * s.groups);
  for (const WindowDim &dim : s.dims)
    x = x * dim.in, y = y * dim.out, w = w * dim.size;
  return (x + y + w) * bytesOf(s.type) + kRest;
}

} // namespace xlc::runtime

#endif
