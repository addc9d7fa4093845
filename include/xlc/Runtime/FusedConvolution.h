// Convolutions that a GPU library computes in one call, for all images and groups: the supported shapes. Used by
// compiler and runtime.
#ifndef XLC_RUNTIME_FUSEDCONVOLUTION_H
#define XLC_RUNTIME_FUSEDCONVOLUTION_H

#include "xlc/Runtime/LibraryShapes.h"
#include "xlc/Runtime/Windows.h"

#include <algorithm>
#include <optional>

namespace xlc::runtime {

/// Padding after the last element, such that windows end where the convolution's do; none if the library's windows
/// would differ.
inline std::optional<int64_t> padBehind(const WindowDim &d) {
  int64_t reach = (d.size - 1) * d.dilation + 1;
  int64_t pad = std::max<int64_t>(0, (d.out - 1) * d.stride + reach - d.in - d.pad);
  return (d.in + d.pad + pad - reach) / d.stride + 1 == d.out ? std::optional(pad) : std::nullopt;
}

/// Windows of one or two dimensions, with a padding that the library supports.
inline bool isFusedConvolution(const ConvolutionShape &s) {
  const Windows windows(s.dims);
  const auto &[depth, rows, columns] = windows.dims;
  bool isPlane = depth.in == 1 && depth.out == 1 && depth.size == 1 && depth.pad == 0;
  return isPlane && padBehind(rows) && padBehind(columns);
}

/// Bytes that the library's sixteen-bit engines for tensor cores require: copies of x, w and y with adjacent channels,
/// padded to a multiple of eight; unittests/Cuda/FusedConvolutionTest.cpp. With less memory, only engines without
/// tensor cores are available. `Number` must be able to represent the products of the sizes.
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
