// Import rules for operators with a kernel of their own: products, softmax, norms.
#include "DescribeNames.h"
#include "Rules.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

/// x + b, b broadcast over leading dimensions.
static Value addBias(NodeImport &n, Value x, Value bias) {
  return bias ? Value(graph::AddOp::create(n.builder, n.loc, x.getType(), x, n.broadcast(bias, shapeOf(x)))) : x;
}

static Value multiply(NodeImport &n, Value x, double factor) {
  return factor == 1 ? x : Value(graph::MulOp::create(n.builder, n.loc, x.getType(), x, n.number(factor, x)));
}

bool xlc::onnx::importGemm(NodeImport &n) {
  bool transA = getInt(n.node, "transA", 0), transB = getInt(n.node, "transB", 0);
  Shape a = n.shape(0), b = n.shape(1);
  if (a.size() != 2 || b.size() != 2 || a[transA ? 0 : 1] != b[transB ? 1 : 0])
    return n.fail("multiplies " + describeShape(a) + (transA ? " (transposed)" : "") + " by " + describeShape(b) +
                  (transB ? " (transposed)" : "") + "; these shapes do not match");
  if (!isa_and_nonnull<FloatType>(n.elementType(0)) || n.elementType(0) != n.elementType(1))
    return n.fail("needs float inputs of one type");
  std::string spec = std::string(transA ? "ba" : "ab") + "," + (transB ? "cb" : "bc") + "->ac";
  Value y = n.contract(spec, n.value(0), n.value(1));
  y = multiply(n, y, getFloat(n.node, "alpha", 1));
  if (!n.has(2))
    return n.produce(addBias(n, y, n.vanishedBias));
  Shape common, result{shapeOf(y)[0], shapeOf(y)[1]};
  if (!broadcastShapes(n.shape(2), result, common) || common != result || n.elementType(2) != n.elementType(0))
    return n.fail("needs a third input of the same type that broadcasts to the product");
  return n.produce(addBias(n, y, multiply(n, n.value(2), getFloat(n.node, "beta", 1))));
}

/// Letters for a batched product: shared leading dimensions get the same letter; where one operand has
/// size 1, the letter is left to the other after a reshape that drops the 1.
bool xlc::onnx::importMatMul(NodeImport &n) {
  Shape a = n.shape(0), b = n.shape(1);
  if (a.empty() || b.empty() || !isa_and_nonnull<FloatType>(n.elementType(0)) || n.elementType(0) != n.elementType(1))
    return n.fail("needs float tensors of one type");
  bool dropsRow = a.size() == 1, dropsColumn = b.size() == 1;
  if (dropsRow)
    a.insert(a.begin(), 1);
  if (dropsColumn)
    b.push_back(1);
  Shape batch, leadingA(ArrayRef<int64_t>(a).drop_back(2)), leadingB(ArrayRef<int64_t>(b).drop_back(2));
  if (!broadcastShapes(leadingA, leadingB, batch) || a.back() != b[b.size() - 2])
    return n.fail("multiplies " + describeShape(a) + " by " + describeShape(b) + "; these shapes do not match");
  std::string lettersA, lettersB, lettersY;
  Shape keptA, keptB, result = batch;
  for (size_t i = 0; i < batch.size(); ++i) {
    auto sizeIn = [&](const Shape &leading) {
      size_t missing = batch.size() - leading.size();
      return i < missing ? 1 : leading[i - missing];
    };
    int64_t inA = sizeIn(leadingA), inB = sizeIn(leadingB);
    bool takesA = inA == batch[i] && (inA != 1 || batch.size() == leadingA.size() || inB == 1);
    bool takesB = inB == batch[i] && (inB != 1 || (batch.size() == leadingB.size() && inA == 1));
    char letter = (char)('a' + i);
    lettersY += letter;
    if (takesA || !takesB)
      lettersA += letter, keptA.push_back(batch[i]);
    if (takesB)
      lettersB += letter, keptB.push_back(batch[i]);
  }
  keptA.append({a[a.size() - 2], a.back()});
  keptB.append({b[b.size() - 2], b.back()});
  result.append({a[a.size() - 2], b.back()});
  Value y = n.contract(lettersA + "xy," + lettersB + "yz->" + lettersY + "xz", n.reshape(n.value(0), keptA),
                       n.reshape(n.value(1), keptB));
  if (dropsColumn)
    result.pop_back();
  if (dropsRow)
    result.erase(result.end() - (dropsColumn ? 1 : 2));
  return n.produce(addBias(n, n.reshape(y, result), n.vanishedBias));
}

/// Softmax along the last dimension; any other is moved there and back.
static Value softmax(NodeImport &n, Value x, int64_t axis) {
  int64_t rank = (int64_t)shapeOf(x).size();
  SmallVector<int64_t> swap = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(swap[axis], swap[rank - 1]);
  bool isLast = axis == rank - 1;
  Value moved = isLast ? x : n.transpose(x, swap);
  Value y = graph::SoftmaxOp::create(n.builder, n.loc, moved.getType(), moved);
  return isLast ? y : n.transpose(y, swap);
}

bool xlc::onnx::importSoftmax(NodeImport &n) {
  Value x = n.value(0);
  int64_t axis = getInt(n.node, "axis", -1);
  if (!x || !isa<FloatType>(n.elementType(0)))
    return n.fail("needs a float input");
  std::string problem = normalizeAxis(axis, (int64_t)n.shape(0).size());
  return problem.empty() ? n.produce(softmax(n, x, axis)) : n.fail(problem);
}

/// x - max - log sum exp(x - max).
bool xlc::onnx::importLogSoftmax(NodeImport &n) {
  Value x = n.value(0);
  int64_t axis = getInt(n.node, "axis", -1);
  if (!x || !isa<FloatType>(n.elementType(0)))
    return n.fail("needs a float input");
  if (std::string problem = normalizeAxis(axis, (int64_t)n.shape(0).size()); !problem.empty())
    return n.fail(problem);
  SmallVector<int64_t> kept = shapeOf(x), dropped = kept, whole = kept;
  dropped.erase(dropped.begin() + axis);
  kept[axis] = 1;
  auto type = cast<RankedTensorType>(x.getType());
  auto reduce = [&](graph::Reduction kind, Value from) -> Value {
    return graph::ReduceOp::create(n.builder, n.loc, type.clone(dropped), kind, from, ArrayRef<int64_t>{axis});
  };
  Value largest = n.broadcast(n.reshape(reduce(graph::Reduction::max, x), kept), whole);
  Value shifted = graph::SubOp::create(n.builder, n.loc, type, x, largest);
  Value sum = reduce(graph::Reduction::sum, graph::ExpOp::create(n.builder, n.loc, type, shifted));
  Value log = graph::LogOp::create(n.builder, n.loc, sum.getType(), sum);
  return n.produce(graph::SubOp::create(n.builder, n.loc, type, shifted, n.broadcast(n.reshape(log, kept), whole)));
}

bool xlc::onnx::importLayerNormalization(NodeImport &n) {
  Shape shape = n.shape(0);
  int64_t rank = (int64_t)shape.size(), axis = getInt(n.node, "axis", -1);
  if (std::string problem = normalizeAxis(axis, rank); !problem.empty())
    return n.fail(problem);
  if (n.node.outputs.size() > 1)
    return n.fail("has outputs for the mean and the standard deviation, which are not supported");
  if (!isa_and_nonnull<FloatType>(n.elementType(0)) || n.elementType(0) != n.elementType(1) ||
      (n.has(2) && n.elementType(2) != n.elementType(0)))
    return n.fail("needs float tensors of one type");
  Shape flat(ArrayRef<int64_t>(shape).take_front(axis));
  int64_t size = countElements(ArrayRef<int64_t>(shape).drop_front(axis));
  flat.push_back(size);
  if (countElements(n.shape(1)) != size || (n.has(2) && countElements(n.shape(2)) != size))
    return n.fail("needs a weight and a bias of " + Twine(size) + " elements");
  Value x = n.reshape(n.value(0), flat), weight = n.reshape(n.value(1), {size});
  Value bias = n.has(2) ? n.reshape(n.value(2), {size}) : n.vanishedBias;
  if (!bias)
    bias = n.number(0, weight);
  auto type = cast<RankedTensorType>(x.getType());
  auto rows = type.clone(type.getShape().drop_back());
  auto norm = graph::LayerNormOp::create(n.builder, n.loc, TypeRange{type, rows, rows}, x, weight, bias,
                                         n.builder.getF64FloatAttr(getFloat(n.node, "epsilon", 1e-5)));
  return n.produce(n.reshape(norm.getY(), shape));
}
