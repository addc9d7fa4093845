// Import rules for norms over channels, from small ops: means and variances are reductions, first over the spatial
// dimensions, then over the samples.
//
// Batch norm in training form returns the next values of its running averages as outputs 1 and 2, as ONNX does, with
// PyTorch's unbiased variance (ONNX's own text uses the biased one).
#include "BatchNorms.h"
#include "Rules.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

namespace {

/// x as [samples, channels, elements of a plane], and the arithmetic of one value for each channel.
class Planes {
public:
  Planes(NodeImport &n, Value x) : n(n), original(shapeOf(x)) {
    int64_t plane = countElements(ArrayRef<int64_t>(original).drop_front(2));
    shape = {original[0], original[1], plane};
    this->x = n.reshape(x, shape);
  }

  Value x;
  int64_t count() const { return shape[0] * shape[2]; } ///< elements of a channel
  int64_t channels() const { return shape[1]; }
  Value restore(Value y) { return n.reshape(y, original); }

  Value add(Value a, Value b) { return graph::AddOp::create(n.builder, n.loc, a.getType(), a, b); }
  Value sub(Value a, Value b) { return graph::SubOp::create(n.builder, n.loc, a.getType(), a, b); }
  Value mul(Value a, Value b) { return graph::MulOp::create(n.builder, n.loc, a.getType(), a, b); }
  Value scale(Value a, int64_t numerator, int64_t denominator) {
    return graph::ScaleOp::create(n.builder, n.loc, a.getType(), a, numerator, denominator);
  }
  /// 1 / sqrt(variance + epsilon).
  Value invertRoot(Value variance, double epsilon) {
    Value moved = add(variance, n.number(epsilon, variance));
    Value root = graph::SqrtOp::create(n.builder, n.loc, moved.getType(), moved);
    return graph::DivOp::create(n.builder, n.loc, root.getType(), n.number(1, root), root);
  }
  /// A value for each channel, everywhere.
  Value spread(Value channel) { return n.broadcast(n.reshape(channel, {channels(), 1}), shape); }
  /// The mean over samples and plane.
  Value mean(Value of) {
    auto type = cast<RankedTensorType>(of.getType());
    auto sum = [&](Value from, int64_t dimension, ArrayRef<int64_t> to) -> Value {
      return graph::ReduceOp::create(n.builder, n.loc, type.clone(to), graph::Reduction::sum, from,
                                     ArrayRef<int64_t>{dimension});
    };
    Value rows = sum(of, 2, {shape[0], shape[1]});
    return scale(sum(rows, 0, {shape[1]}), 1, count());
  }

private:
  NodeImport &n;
  SmallVector<int64_t> original, shape;
};

/// old * keep + now * (1 - keep).
Value movingAverage(NodeImport &n, Planes &planes, Value old, Value now, double keep) {
  return planes.add(planes.mul(old, n.number(keep, old)), planes.mul(now, n.number(1 - keep, now)));
}

/// Whether inputs `from` to `to` are vectors of `size` elements of the type of input 0.
bool areVectors(NodeImport &n, size_t from, size_t to, int64_t size) {
  for (size_t i = from; i <= to; ++i)
    if (n.shape(i) != Shape{size} || n.elementType(i) != n.elementType(0))
      return n.fail("needs a vector of " + Twine(size) + " elements, with the element type of input 0, as input " +
                    Twine(i));
  return true;
}

bool isFloatOfRank(NodeImport &n, size_t rank) {
  return n.shape(0).size() >= rank && isa_and_nonnull<FloatType>(n.elementType(0)) && countElements(n.shape(0)) > 0
             ? true
             : n.fail("needs a float input of rank " + Twine(rank) + " or more");
}

/// Normalises rows of `size` elements; no weight, no bias.
Value normaliseRows(NodeImport &n, Value x, int64_t size, double epsilon) {
  SmallVector<int64_t> shape = shapeOf(x);
  int64_t rows = countElements(shape) / size;
  Value flat = n.reshape(x, {rows, size});
  auto type = cast<RankedTensorType>(flat.getType()), row = type.clone(ArrayRef<int64_t>{rows});
  Value ones = n.broadcast(n.scalar(1, type.getElementType()), {size});
  Value zeros = n.broadcast(n.scalar(0, type.getElementType()), {size});
  auto norm = graph::LayerNormOp::create(n.builder, n.loc, TypeRange{type, row, row}, flat, ones, zeros,
                                         n.builder.getF64FloatAttr(epsilon));
  return n.reshape(norm.getY(), shape);
}

} // namespace

bool xlc::onnx::importBatchNormalization(NodeImport &n) {
  if (!isFloatOfRank(n, 2) || !areVectors(n, 1, 4, n.shape(0)[1]))
    return false;
  Value weight = n.value(1), bias = n.value(2), runningMean = n.value(3), runningVariance = n.value(4);
  Planes planes(n, n.value(0));
  double epsilon = getFloat(n.node, "epsilon", 1e-5), keep = getFloat(n.node, "momentum", 0.9);
  bool isTraining = isTrainingForm(n.node, n.opset);
  if (isTraining && planes.count() < 2)
    return n.fail("has one element for each channel, so the variance is not defined; use a micro-batch of 2 or more");
  if (!isTraining && n.node.outputs.size() > 1)
    return n.fail("has outputs for running averages, which require training_mode = 1");
  Value mean = isTraining ? planes.mean(planes.x) : runningMean;
  Value centred = planes.sub(planes.x, planes.spread(mean));
  Value variance = isTraining ? planes.mean(planes.mul(centred, centred)) : runningVariance;
  Value factor = planes.mul(planes.invertRoot(variance, epsilon), weight);
  Value y = planes.add(planes.mul(centred, planes.spread(factor)), planes.spread(bias));
  n.produce(planes.restore(y));
  if (!isTraining)
    return true;
  if (n.node.outputs.size() > 3)
    for (const std::string &output : ArrayRef(n.node.outputs).drop_front(3))
      if (!output.empty() && n.opset >= 14)
        return n.fail("has more than three outputs");
  Value unbiased = planes.scale(variance, planes.count(), planes.count() - 1);
  return n.produce(movingAverage(n, planes, runningMean, mean, keep)) &&
         n.produce(movingAverage(n, planes, runningVariance, unbiased, keep));
}

bool xlc::onnx::importInstanceNormalization(NodeImport &n) {
  if (!isFloatOfRank(n, 3) || !areVectors(n, 1, 2, n.shape(0)[1]))
    return false;
  Value x = n.value(0), weight = n.value(1), bias = n.value(2);
  Planes planes(n, x);
  int64_t plane = countElements(ArrayRef<int64_t>(n.shape(0)).drop_front(2));
  Value y = normaliseRows(n, planes.x, plane, getFloat(n.node, "epsilon", 1e-5));
  return n.produce(planes.restore(planes.add(planes.mul(y, planes.spread(weight)), planes.spread(bias))));
}

/// Scale and bias are of channels; until opset 20 they were of groups.
bool xlc::onnx::importGroupNormalization(NodeImport &n) {
  if (!isFloatOfRank(n, 2))
    return false;
  Shape shape = n.shape(0);
  int64_t groups = getInt(n.node, "num_groups", 0), channels = shape[1];
  if (groups < 1 || channels % groups)
    return n.fail("has num_groups = " + Twine(groups) + ", which does not divide " + Twine(channels) + " channels");
  bool isPerGroup = n.opset < 21;
  if (!areVectors(n, 1, 2, isPerGroup ? groups : channels))
    return false;
  Planes planes(n, n.value(0));
  Value y = normaliseRows(n, planes.x, countElements(shape) / shape[0] / groups, getFloat(n.node, "epsilon", 1e-5));
  auto perChannel = [&](Value value) {
    if (!isPerGroup)
      return value;
    return n.reshape(n.broadcast(n.reshape(value, {groups, 1}), {groups, channels / groups}), {channels});
  };
  Value weight = perChannel(n.value(1)), bias = perChannel(n.value(2));
  return n.produce(planes.restore(planes.add(planes.mul(y, planes.spread(weight)), planes.spread(bias))));
}
