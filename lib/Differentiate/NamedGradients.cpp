// Gradient rules of the ops that have their own kernel or library call.
#include "Rules.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {
/// A result of a multi-result op matters by its first result only; the others are for backward's own use.
LogicalResult expectUnused(Operation *op, Value cotangent, StringRef what) {
  return cotangent ? op->emitError() << "the gradient through " << what << " is not defined" : success();
}
} // namespace

// y = sum over k of a b: each operand's gradient is the contraction of dy with the other one.
LogicalResult gradients::contract(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto c = cast<ContractOp>(op);
  StringRef a = c.getLettersA(), other = c.getLettersB(), y = c.getLettersY();
  if (b.isNeeded(0))
    b.contribute(0, b.contract((y + "," + other + "->" + a).str(), dy[0], c.getB()));
  if (b.isNeeded(1))
    b.contribute(1, b.contract((a + "," + y + "->" + other).str(), c.getA(), dy[0]));
  return success();
}

// Bilinear, and each of the three ops is the gradient of the others.
LogicalResult gradients::convolution(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto c = cast<ConvolutionOp>(op);
  if (b.isNeeded(0))
    b.contribute(0, b.create<ConvolutionTransposeOp>(c.getX().getType(), dy[0], c.getW(), c.getGroups(), c.getStrides(),
                                                     c.getDilations(), c.getPads()));
  if (b.isNeeded(1))
    b.contribute(1, b.create<ConvolutionWeightBackwardOp>(c.getW().getType(), c.getX(), dy[0], c.getGroups(),
                                                          c.getStrides(), c.getDilations(), c.getPads()));
  return success();
}

LogicalResult gradients::convolutionTranspose(GradientBuilder &b, Operation *op, ValueRange dx) {
  auto c = cast<ConvolutionTransposeOp>(op);
  if (b.isNeeded(0))
    b.contribute(0, b.create<ConvolutionOp>(c.getY().getType(), dx[0], c.getW(), c.getGroups(), c.getStrides(),
                                            c.getDilations(), c.getPads()));
  if (b.isNeeded(1))
    b.contribute(1, b.create<ConvolutionWeightBackwardOp>(c.getW().getType(), dx[0], c.getY(), c.getGroups(),
                                                          c.getStrides(), c.getDilations(), c.getPads()));
  return success();
}

LogicalResult gradients::maxPool(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto pool = cast<MaxPoolOp>(op);
  b.contribute(0, b.create<MaxPoolBackwardOp>(pool.getX().getType(), pool.getX(), dy[0], pool.getWindow(),
                                              pool.getStrides(), pool.getDilations(), pool.getPads()));
  return success();
}

// dx = y (dy - sum(dy y)).
LogicalResult gradients::softmax(GradientBuilder &b, Operation *op, ValueRange dy) {
  Value y = op->getResult(0);
  Value sum = b.reduceRows(Reduction::sum, b.mul(dy[0], y));
  Value centred = b.sub(dy[0], b.unreduce(sum, {b.rankOf(y) - 1}, typeOf(y)));
  b.contribute(0, b.mul(y, centred));
  return success();
}

LogicalResult gradients::gelu(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto gelu = cast<GeluOp>(op);
  b.contribute(0, b.create<GeluBackwardOp>(gelu.getType(), gelu.getKind(), gelu.getX(), dy[0]));
  return success();
}

LogicalResult gradients::silu(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto silu = cast<SiluOp>(op);
  b.contribute(0, b.create<SiluBackwardOp>(silu.getType(), silu.getX(), dy[0]));
  return success();
}

LogicalResult gradients::layerNorm(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto norm = cast<LayerNormOp>(op);
  if (failed(expectUnused(op, dy[1], "the mean of a layer norm")) ||
      failed(expectUnused(op, dy[2], "the reciprocal standard deviation of a layer norm")))
    return failure();
  if (b.isNeeded(0))
    b.contribute(0, b.create<LayerNormBackwardOp>(norm.getX().getType(), norm.getX(), norm.getWeight(), norm.getMean(),
                                                  norm.getRstd(), dy[0]));
  if (!b.isNeeded(1) && !b.isNeeded(2))
    return success();
  Type type = norm.getWeight().getType();
  auto weights = b.create<LayerNormWeightBackwardOp>(type, type, norm.getX(), norm.getMean(), norm.getRstd(), dy[0]);
  b.contribute(1, weights.getDweight());
  b.contribute(2, weights.getDbias());
  return success();
}

LogicalResult gradients::rmsNorm(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto norm = cast<RmsNormOp>(op);
  if (failed(expectUnused(op, dy[1], "the reciprocal root mean square of an RMS norm")))
    return failure();
  if (b.isNeeded(0))
    b.contribute(
        0, b.create<RmsNormBackwardOp>(norm.getX().getType(), norm.getX(), norm.getWeight(), norm.getRstd(), dy[0]));
  if (b.isNeeded(1))
    b.contribute(1, b.create<RmsNormWeightBackwardOp>(norm.getWeight().getType(), norm.getX(), norm.getRstd(), dy[0]));
  return success();
}

LogicalResult gradients::attention(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto attention = cast<AttentionOp>(op);
  if (failed(expectUnused(op, dy[1], "the log-sum-exp of attention")))
    return failure();
  if (attention.getBias() && b.isNeeded(3))
    return op->emitError("the gradient of attention's bias is not defined");
  auto backward = b.create<AttentionBackwardOp>(
      attention.getQ().getType(), attention.getK().getType(), attention.getV().getType(), attention.getMaskAttr(),
      attention.getQ(), attention.getK(), attention.getV(), attention.getOut(), attention.getLse(), dy[0],
      attention.getBias(), attention.getDraws(), attention.getScaleAttr(), attention.getWindowAttr(),
      attention.getRatioAttr(), attention.getUniformAttr(), attention.getAddedAttr());
  for (unsigned i : {0u, 1u, 2u})
    b.contribute(i, backward->getResult(i));
  return success();
}

LogicalResult gradients::crossEntropy(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto loss = cast<CrossEntropyOp>(op);
  if (failed(expectUnused(op, dy[2], "the log-sum-exp of a cross-entropy")))
    return failure();
  b.contribute(0, b.create<CrossEntropyBackwardOp>(loss.getLogits().getType(), loss.getLogits(), loss.getLabels(),
                                                   loss.getLse(), dy[0], loss.getIgnoreIndexAttr()));
  return success();
}
