// The steps of a convolution on GPUs: products, and kernels that write the elements of windows as a matrix, or add such
// a matrix to the planes (DeviceKernels.h). They run image by image, group by group, with rows = inputs x window
// positions:
//
//   forward           columns = what windows of x show     y[f, out]          = w[f, rows] columns[rows, out]
//   transpose         columns[rows, out] = w[f, rows]^T y[f, out]                x = columns, added up
//   weight backward   columns = what windows of x show     w[f, rows]        += y[f, out] columns[rows, out]^T
//
// Only the matrix of one image and group exists at a time. If the windows are the plane itself, the matrix is x.
// Sixteen-bit operands are widened image by image, w as a whole, and their results are rounded once.
#ifndef XLC_LIB_RUNTIME_CUDA_CONVOLUTIONSTEPS_H
#define XLC_LIB_RUNTIME_CUDA_CONVOLUTIONSTEPS_H

#include "xlc/Runtime/ConvolutionWorkspace.h"
#include "xlc/Runtime/DeviceKernels.h"

#include <vector>

namespace xlc::runtime {

/// The place that a step reads or writes: `offset` bytes from the begin of an operand of the call, or of its workspace.
struct ConvolutionPlace {
  enum class Operand : uint8_t { X, W, Y, Workspace } operand;
  int64_t offset = 0;
};

struct ConvolutionStep {
  enum class Kind : uint8_t {
    Columns,     ///< xlc_columns from a to the result
    FromColumns, ///< xlc_from_columns from a to the result
    Product,     ///< result (+)= a b
    Widen,       ///< `count` elements of a, as float32
    Narrow,      ///< `count` elements of a, rounded to the type of the result
  } kind;
  ConvolutionPlace a, b, result; ///< b: only of a product
  bool adds;                     ///< adds to the result
  int64_t count = 0;
};

/// The steps, in order.
struct ConvolutionSteps {
  ColumnsParameters columns; ///< of all kernels; the step states whether a kernel adds
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

/// Creates the steps of one convolution, image by image. With sixteen-bit operands, elements are widened before the
/// steps of an image and results are rounded after them.
class ConvolutionStepMaker {
public:
  ConvolutionStepMaker(const ConvolutionShape &s, bool add)
      : s(s), add(add), windows(s.dims), workspace(s), isWide(s.type == FloatType::F32), ofX(s.inputs * windows.in),
        ofY(s.outputs * windows.out), ofW(s.outputs * s.inputs * windows.size),
        made{{s.inputs, windows, 0}, convolutionProduct(s, windows), {}} {}

  ConvolutionSteps make() {
    if (s.kind != Makes::WeightBackward)
      convert(Kind::Widen, {Operand::W}, {Operand::Workspace, workspace.w}, s.groups * ofW);
    for (int64_t image = 0; image < s.batch * s.groups; ++image) // the group varies fastest
      addImage(image);
    if (s.kind == Makes::WeightBackward)
      convert(Kind::Narrow, {Operand::Workspace, workspace.w}, {Operand::W}, s.groups * ofW);
    return std::move(made);
  }

private:
  using Kind = ConvolutionStep::Kind;
  using Operand = ConvolutionPlace::Operand;
  using Makes = ConvolutionShape::Kind;

  void convert(Kind kind, ConvolutionPlace from, ConvolutionPlace to, int64_t count) {
    if (!isWide)
      made.steps.push_back({kind, from, {}, to, false, count});
  }
  ConvolutionPlace stored(Operand operand, int64_t element) const { return {operand, element * bytesOf(s.type)}; }
  /// The float32 form of an operand: as stored, or in the workspace.
  ConvolutionPlace wide(Operand operand, int64_t element, int64_t inWorkspace) const {
    return isWide ? stored(operand, element) : ConvolutionPlace{Operand::Workspace, inWorkspace};
  }

  void addImage(int64_t image) {
    int64_t atX = image * ofX, atY = image * ofY, atW = image % s.groups * ofW;
    ConvolutionPlace x = wide(Operand::X, atX, workspace.x), y = wide(Operand::Y, atY, workspace.y);
    ConvolutionPlace w = wide(Operand::W, atW, workspace.w + atW * bytesOf(FloatType::F32));
    ConvolutionPlace columns = windows.arePlane() ? x : ConvolutionPlace{Operand::Workspace};
    if (s.kind != Makes::Transpose)
      convert(Kind::Widen, stored(Operand::X, atX), x, ofX);
    if (s.kind != Makes::Forward)
      convert(Kind::Widen, stored(Operand::Y, atY), y, ofY);
    if (!windows.arePlane() && s.kind != Makes::Transpose)
      made.steps.push_back({Kind::Columns, x, {}, columns, false});
    switch (s.kind) {
    case Makes::Forward:
      made.steps.push_back({Kind::Product, w, columns, y, add});
      return convert(Kind::Narrow, y, stored(Operand::Y, atY), ofY);
    case Makes::Transpose:
      made.steps.push_back({Kind::Product, w, y, columns, add && windows.arePlane()});
      if (!windows.arePlane())
        made.steps.push_back({Kind::FromColumns, columns, {}, x, add});
      return convert(Kind::Narrow, x, stored(Operand::X, atX), ofX);
    case Makes::WeightBackward:
      made.steps.push_back({Kind::Product, y, columns, w, add || image >= s.groups});
    }
  }

  const ConvolutionShape &s;
  const bool add;
  const Windows windows;
  const ConvolutionWorkspace<int64_t> workspace;
  const bool isWide;
  const int64_t ofX, ofY, ofW; ///< numbers of elements of one image and group
  ConvolutionSteps made;
};

/// The steps that compute the result of a convolution, or add to it.
inline ConvolutionSteps makeConvolutionSteps(const ConvolutionShape &s, bool add) {
  return ConvolutionStepMaker(s, add).make();
}

} // namespace xlc::runtime

#endif
