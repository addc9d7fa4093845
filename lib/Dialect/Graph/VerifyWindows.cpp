// Verifiers of convolutions and pools. The common properties of windows are checked once; sizes and steps are bounded
// so that no position o * stride + k * dilation can overflow.
#include "xlc/Dialect/Graph/Graph.h"

using namespace mlir;
using namespace xlc::graph;

namespace {

constexpr int64_t kLargest = int64_t(1) << 31;

/// One size, stride, dilation and pad for each of one to three spatial dimensions of `x` and `y`.
LogicalResult verifyWindows(Operation *op, Value x, Value y, ArrayRef<int64_t> window, ArrayRef<int64_t> strides,
                            ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads) {
  size_t rank = shapeOf(x).size();
  if (rank < 3 || rank > 5 || shapeOf(y).size() != rank)
    return op->emitOpError() << "needs tensors of equal rank with one to three spatial dimensions, but has ["
                             << shapeOf(x) << "] and [" << shapeOf(y) << "]";
  for (ArrayRef<int64_t> list : {window, strides, dilations, pads})
    if (list.size() != rank - 2)
      return op->emitOpError() << "needs a window, stride, dilation and pad for each of " << rank - 2
                               << " spatial dimensions";
  for (size_t i = 0; i < rank - 2; ++i) {
    bool isLegal = pads[i] > -kLargest;
    for (int64_t number : {window[i], strides[i], dilations[i], shapeOf(x)[i + 2], shapeOf(y)[i + 2]})
      isLegal &= number > 0;
    for (int64_t number : {window[i], strides[i], dilations[i], pads[i], shapeOf(x)[i + 2], shapeOf(y)[i + 2]})
      if (!isLegal || number >= kLargest)
        return op->emitOpError() << "windows, strides, dilations and sizes must be positive and below 2^31";
  }
  return success();
}

LogicalResult verifyConvolution(Operation *op, Value x, Value w, Value y, int64_t groups, ArrayRef<int64_t> strides,
                                ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads) {
  if (failed(verifyWindows(op, x, y, shapeOf(w).drop_front(std::min<size_t>(2, shapeOf(w).size())), strides, dilations,
                           pads)))
    return failure();
  ArrayRef<int64_t> in = shapeOf(x), weight = shapeOf(w), out = shapeOf(y);
  bool fits = groups > 0 && in[0] > 0 && in[1] > 0 && weight[0] > 0 && in[1] % groups == 0 && weight[0] % groups == 0 &&
              weight[1] == in[1] / groups && in[0] == out[0] && weight[0] == out[1];
  return fits ? success()
              : op->emitOpError() << "x [" << in << "], w [" << weight << "] and y [" << out
                                  << "] have incompatible shapes with " << groups << " groups";
}

/// Every window meets an element of x.
LogicalResult verifyPool(Operation *op, Value x, Value y, ArrayRef<int64_t> window, ArrayRef<int64_t> strides,
                         ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads) {
  if (failed(verifyWindows(op, x, y, window, strides, dilations, pads)))
    return failure();
  if (shapeOf(x).take_front(2) != shapeOf(y).take_front(2))
    return op->emitOpError() << "x [" << shapeOf(x) << "] and y [" << shapeOf(y) << "] differ in batch or channels";
  for (size_t i = 0; i < window.size(); ++i)
    for (int64_t o = 0; o < shapeOf(y)[i + 2]; ++o) {
      int64_t begin = o * strides[i] - pads[i];
      int64_t first = begin >= 0 ? 0 : (-begin + dilations[i] - 1) / dilations[i];
      if (first >= window[i] || begin + first * dilations[i] >= shapeOf(x)[i + 2])
        return op->emitOpError() << "window " << o << " of spatial dimension " << i << " is outside of x";
    }
  return success();
}

} // namespace

LogicalResult ConvolutionOp::verify() {
  return verifyConvolution(*this, getX(), getW(), getY(), getGroups(), getStrides(), getDilations(), getPads());
}
LogicalResult ConvolutionTransposeOp::verify() {
  return verifyConvolution(*this, getX(), getW(), getY(), getGroups(), getStrides(), getDilations(), getPads());
}
LogicalResult ConvolutionWeightBackwardOp::verify() {
  return verifyConvolution(*this, getX(), getDw(), getDy(), getGroups(), getStrides(), getDilations(), getPads());
}
LogicalResult MaxPoolOp::verify() {
  return verifyPool(*this, getX(), getY(), getWindow(), getStrides(), getDilations(), getPads());
}
LogicalResult MaxPoolBackwardOp::verify() {
  if (getDx().getType() != getX().getType())
    return emitOpError() << "dx must have the type of x, but has " << getDx().getType();
  return verifyPool(*this, getX(), getDy(), getWindow(), getStrides(), getDilations(), getPads());
}
