// Import rules for losses over classes. The mean over counted rows is written as sum / count of a cross_entropy, which
// Loss.cpp searches for; a negative log likelihood of a log-softmax is one too. Class weights, and losses that are not
// reduced, are small ops.
#include "DescribeNames.h"
#include "ReadInputs.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

using graph::Reduction;

namespace {

/// Scores [n, classes, ...] and labels [n, ...]; rows are those of the labels.
struct ClassLoss {
  ClassLoss(NodeImport &n) : n(n), f{n}, reduction(getString(n.node, "reduction", "mean")) {}

  bool read() {
    Shape shape = n.shape(0), rows = n.shape(1), expected = shape;
    if (reduction != "mean" && reduction != "sum" && reduction != "none")
      return n.fail("has reduction '" + reduction + "'; mean, sum and none are supported");
    if (shape.size() >= 2 && shape == rows && isa_and_nonnull<FloatType>(n.elementType(1)))
      return readSoft();
    if (shape.size() < 2 || (expected.erase(expected.begin() + 1), expected != rows))
      return n.fail("has labels of shape " + describeShape(rows) + ", which do not match scores of shape " +
                    describeShape(n.shape(0)));
    scores = n.value(0), labels = n.value(1);
    if (!scores || !labels || !isa<FloatType>(n.elementType(0)) || !isa<IntegerType>(n.elementType(1)) ||
        n.elementType(1).isInteger(1))
      return n.fail("needs float scores and integer labels");
    return checkWeights();
  }

  /// Class probabilities as labels: PyTorch's exporters write its cross_entropy of them in this way, against ONNX.
  bool readSoft() {
    if (n.node.op != "SoftmaxCrossEntropyLoss")
      return n.fail("has class probabilities as labels, which only SoftmaxCrossEntropyLoss supports");
    scores = readFloats(n, 0), labels = readFloats(n, 1);
    areSoft = true;
    if (!scores || !labels)
      return false;
    return checkWeights();
  }

  bool checkWeights() {
    if (n.has(2) && (n.elementType(2) != n.elementType(0) || n.shape(2) != Shape{n.shape(0)[1]}))
      return n.fail("needs a weight for each of " + Twine(n.shape(0)[1]) + " classes");
    return true;
  }

  /// The class dimension is ONNX's second and our last.
  Value toLast(Value x) {
    SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, f.rankOf(x)));
    permutation.erase(permutation.begin() + 1);
    permutation.push_back(1);
    return f.rankOf(x) == 2 ? x : n.transpose(x, permutation);
  }

  /// The label that does not count; none where the node has none, or one that the labels' type cannot hold.
  IntegerAttr ignoreIndex() {
    if (!n.node.attributes.contains("ignore_index"))
      return {};
    int64_t given = getInt(n.node, "ignore_index", 0);
    if (n.elementType(1).isInteger(32) && given != (int32_t)given)
      return {};
    return n.builder.getI64IntegerAttr(given);
  }

  /// With the kernel that never holds the probabilities. Reduction is mean or sum.
  Value makeCrossEntropy(Value logits) {
    auto scalar = RankedTensorType::get({}, n.elementType(0));
    auto lse = RankedTensorType::get(graph::typeOf(labels).getShape(), n.builder.getF64Type());
    auto loss = graph::CrossEntropyOp::create(n.builder, n.loc,
                                              TypeRange{scalar, RankedTensorType::get({}, n.builder.getI64Type()), lse},
                                              toLast(logits), labels, ignoreIndex());
    if (reduction == "sum")
      return loss.getSum();
    return f.div(loss.getSum(), graph::CastOp::create(n.builder, n.loc, scalar, loss.getCount()).getResult());
  }

  /// From log-probabilities, class by class.
  Value makeSmall(Value logProbabilities) {
    Value x = toLast(logProbabilities);
    int64_t last = f.rankOf(x) - 1;
    Type element = n.elementType(0);
    Shape kept = n.shape(1);
    SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, last));
    kept.push_back(1);
    Value classes = f.iota(graph::typeOf(x).getShape(), last, n.elementType(1));
    Value isLabel = f.isEqual(classes, n.broadcast(n.reshape(labels, kept), graph::typeOf(x).getShape()));
    Value picked = f.neg(f.sum(f.select(isLabel, x, 0), last, false));
    Value weight = f.number(1, picked);
    if (n.has(2))
      weight = f.gather(n.value(2), readIndices(n, 1, n.shape(2)[0]), 0);
    if (IntegerAttr given = ignoreIndex()) {
      Value ignored = n.broadcast(integer(given.getInt()), graph::typeOf(labels).getShape());
      weight = f.select(f.isEqual(labels, ignored), f.number(0, weight), weight);
    }
    Value losses = f.mul(picked, weight);
    if (reduction == "none")
      return losses;
    Value sum = f.sum(losses, all, false);
    return reduction == "sum" ? sum : f.div(sum, f.convert(f.sum(weight, all, false), element));
  }

  /// As PyTorch: weights of classes weigh the terms, and the mean is over the samples, whatever their weights.
  Value makeSoft(Value logProbabilities) {
    Value terms = f.mul(f.convert(labels, n.elementType(0)), logProbabilities);
    Shape shape = n.shape(0), perClass(shape.size(), 1);
    perClass[1] = shape[1];
    if (n.has(2))
      terms = f.mul(terms, n.broadcast(n.reshape(n.value(2), perClass), shape));
    Value losses = f.neg(f.sum(terms, {1}, false));
    if (reduction == "none")
      return losses;
    Value sum = f.sum(losses, llvm::to_vector(llvm::seq<int64_t>(0, f.rankOf(losses))), false);
    return reduction == "sum" ? sum : f.scale(sum, 1, graph::typeOf(losses).getNumElements());
  }

  /// Exactly, unlike NodeImport::scalar, which takes a double.
  Value integer(int64_t value) {
    auto type = RankedTensorType::get({}, n.elementType(1));
    return graph::ConstantOp::create(
        n.builder, n.loc, type,
        DenseElementsAttr::get(type, (mlir::Attribute)n.builder.getIntegerAttr(n.elementType(1), value)));
  }

  NodeImport &n;
  Formula f;
  std::string reduction;
  Value scores, labels;
  bool areSoft = false; ///< labels are probabilities
};

/// x if `y` is x - max - log sum exp (x - max) along dimension 1, as importLogSoftmax and exporters write it.
Value findLogSoftmax(Value y) {
  auto whole = y.getDefiningOp<graph::SubOp>();
  auto log = whole ? graph::skipReshapings(whole.getB()).getDefiningOp<graph::LogOp>() : graph::LogOp();
  auto sum = log ? log.getX().getDefiningOp<graph::ReduceOp>() : graph::ReduceOp();
  auto power = sum ? sum.getX().getDefiningOp<graph::ExpOp>() : graph::ExpOp();
  if (!power || power.getX() != whole.getA() || sum.getKind() != Reduction::sum ||
      sum.getDimensions() != ArrayRef<int64_t>{1})
    return {};
  auto shifted = power.getX().getDefiningOp<graph::SubOp>();
  auto largest = shifted ? graph::skipReshapings(shifted.getB()).getDefiningOp<graph::ReduceOp>() : graph::ReduceOp();
  bool isShift = largest && largest.getX() == shifted.getA() && largest.getDimensions() == ArrayRef<int64_t>{1};
  return isShift ? shifted.getA() : power.getX();
}

} // namespace

bool xlc::onnx::importNegativeLogLikelihoodLoss(NodeImport &n) {
  ClassLoss loss(n);
  if (!loss.read())
    return false;
  Value logits = findLogSoftmax(loss.scores);
  bool isNamed = logits && !n.has(2) && loss.reduction != "none";
  return n.produce(isNamed ? loss.makeCrossEntropy(logits) : loss.makeSmall(loss.scores));
}

bool xlc::onnx::importSoftmaxCrossEntropyLoss(NodeImport &n) {
  ClassLoss loss(n);
  if (!loss.read())
    return false;
  bool isNamed = !n.has(2) && loss.reduction != "none" && !loss.areSoft;
  bool hasSecond = n.node.outputs.size() > 1 && !n.node.outputs[1].empty();
  Formula f{n};
  Value log = isNamed && !hasSecond
                  ? Value()
                  : f.sub(loss.scores, n.broadcast(f.logSumExp(loss.scores, 1, true), shapeOf(loss.scores)));
  n.produce(isNamed ? loss.makeCrossEntropy(loss.scores) : loss.areSoft ? loss.makeSoft(log) : loss.makeSmall(log));
  return !hasSecond || n.produce(log);
}
