// The workspace of a convolution computed as products, image by image. Used by compiler and runtime.
#ifndef XLC_RUNTIME_CONVOLUTIONWORKSPACE_H
#define XLC_RUNTIME_CONVOLUTIONWORKSPACE_H

#include "xlc/Runtime/LibraryShapes.h"
#include "xlc/Runtime/Windows.h"

namespace xlc::runtime {

/// Offsets in bytes of arrays of float32. First the matrix [inputs x window, out] of one image and group, if the
/// windows are not the plane itself; for sixteen bits then x and y of one image, and w. `Number` must be able to
/// represent the products of the sizes.
template <class Number> struct ConvolutionWorkspace {
  static constexpr int64_t kLine = 256; ///< alignment of the offsets

  Number x = 0, y = 0, w = 0, bytes = 0;

  explicit ConvolutionWorkspace(const ConvolutionShape &s) {
    Number in = s.inputs, out = s.outputs, size = s.inputs, columns = 1;
    for (const WindowDim &dim : s.dims)
      in = in * dim.in, out = out * dim.out, size = size * dim.size, columns = columns * dim.out;
    if (!Windows(s.dims).arePlane())
      place(size * columns);
    if (s.type == FloatType::F32)
      return;
    x = place(in), y = place(out), w = place(size * s.outputs * s.groups);
  }

private:
  Number place(Number elements) {
    Number begin = bytes;
    bytes = (bytes + elements * bytesOf(FloatType::F32) + (kLine - 1)) / kLine * kLine;
    return begin;
  }
};

} // namespace xlc::runtime

#endif
