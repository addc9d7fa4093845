// A convolution as GPUs do it: products, and kernels that write what windows show as a matrix, or add such a matrix to the
// planes (DeviceKernels.h). Image by image, group by group, with rows = inputs x window positions:
//
//   forward           columns = what windows of x show     y[f, out]          = w[f, rows] columns[rows, out]
//   transpose         columns[rows, out] = w[f, rows]^T y[f, out]                x = columns, added up
//   weight backward   columns = what windows of x show     w[f, rows]        += y[f, out] columns[rows, out]^T
//
// The matrix of one image and group is there at a time. Where windows show a plane as it lies, the matrix is x.
#ifndef XLC_LIB_RUNTIME_CUDA_CONVOLUTIONSTEPS_H
#define XLC_LIB_RUNTIME_CUDA_CONVOLUTIONSTEPS_H

#include "xlc/Runtime/DeviceKernels.h"
#include "xlc/Runtime/LibraryShapes.h"

#include <vector>

namespace xlc::runtime {

/// Where a step reads or writes: `offset` bytes behind the begin of an operand of the call, or of its workspace.
struct ConvolutionPlace {
  enum class Operand : uint8_t { X, W, Y, Columns } operand;
  int64_t offset = 0;
};

struct ConvolutionStep {
  enum class Kind : uint8_t {
    Columns,     ///< xlc_columns from a to the result
    FromColumns, ///< xlc_from_columns from a to the result
    Product,     ///< result (+)= a b
  } kind;
  ConvolutionPlace a, b, result; ///< b of a product only
  bool adds;                     ///< to the result
};

/// One after the other.
struct ConvolutionSteps {
  ColumnsParameters columns; ///< of all kernels; whether one adds is said by its step
  ContractShape product;     ///< of all products
  std::vector<ConvolutionStep> steps;
};

inline ContractShape convolutionProduct(const ConvolutionShape &s, const Windows &w) {
  int64_t rows = s.inputs * w.size;
  switch (s.kind) {
  case ConvolutionShape::Kind::Forward:
    return {s.outputs, w.out, rows, rows, 1, w.out, 1, w.out, 1, {}};
  case ConvolutionShape::Kind::Transpose:
    return {rows, w.out, s.outputs, 1, rows, w.out, 1, w.out, 1, {}};
  case ConvolutionShape::Kind::WeightBackward:
    return {s.outputs, rows, w.out, w.out, 1, 1, w.out, rows, 1, {}};
  }
  return {};
}

/// Bytes that places in Columns reach to.
inline int64_t convolutionColumnBytes(const ConvolutionShape &s) {
  Windows w(s.dims);
  return w.arePlane() ? 0 : s.inputs * w.size * w.out * bytesOf(FloatType::F32);
}

/// What computes the result of a convolution, or adds to it.
inline ConvolutionSteps makeConvolutionSteps(const ConvolutionShape &s, bool add) {
  using Kind = ConvolutionStep::Kind;
  using Operand = ConvolutionPlace::Operand;
  Windows windows(s.dims);
  ConvolutionSteps made{{s.inputs, windows, 0}, convolutionProduct(s, windows), {}};
  constexpr int64_t bytes = bytesOf(FloatType::F32);
  for (int64_t image = 0; image < s.batch * s.groups; ++image) { // the group varies fastest
    ConvolutionPlace x{Operand::X, image * s.inputs * windows.in * bytes};
    ConvolutionPlace y{Operand::Y, image * s.outputs * windows.out * bytes};
    ConvolutionPlace w{Operand::W, image % s.groups * s.outputs * s.inputs * windows.size * bytes};
    ConvolutionPlace columns = windows.arePlane() ? x : ConvolutionPlace{Operand::Columns};
    if (!windows.arePlane() && s.kind != ConvolutionShape::Kind::Transpose)
      made.steps.push_back({Kind::Columns, x, {}, columns, false});
    switch (s.kind) {
    case ConvolutionShape::Kind::Forward:
      made.steps.push_back({Kind::Product, w, columns, y, add});
      break;
    case ConvolutionShape::Kind::Transpose:
      made.steps.push_back({Kind::Product, w, y, columns, add && windows.arePlane()});
      if (!windows.arePlane())
        made.steps.push_back({Kind::FromColumns, columns, {}, x, add});
      break;
    case ConvolutionShape::Kind::WeightBackward:
      made.steps.push_back({Kind::Product, y, columns, w, add || image >= s.groups});
      break;
    }
  }
  return made;
}

} // namespace xlc::runtime

#endif
