// Import rules that combine elements along dimensions, and those that rank them. Ranks and running sums compare or
// add every pair along one dimension: quadratic, but one kernel that stores nothing, with the right gradient.
#include "ReadInputs.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

using graph::Reduction;

/// Where the extremum is, along one axis: the first place, or the last one. Among NaNs, too, it is a place that exists.
static Value findPlace(Formula f, Reduction kind, Value x, int64_t axis, bool isLast, bool keeps) {
  Value attains = f.isEqual(x, f.reduceAlong(kind, x, axis)), places = f.iota(graph::typeOf(x).getShape(), axis);
  Value place = f.select(attains, places, isLast ? 0 : (double)(graph::typeOf(x).getDimSize(axis) - 1));
  return f.reduce(isLast ? Reduction::max : Reduction::min, place, axis, keeps);
}

/// PyTorch's max(dim) gives the whole gradient to the place that it returns, amax shares it among equal elements; both
/// are a ReduceMax.
static bool takesOnePlace(const Node &node) {
  return node.call.target == "aten.max.dim" || node.call.target == "aten.min.dim";
}

bool xlc::onnx::importReduce(NodeImport &n, Reduction kind, bool isMean, bool squares) {
  Shape axes;
  if (!readAxes(n, 1, axes))
    return false;
  Value x = n.value(0);
  if (x && takesOnePlace(n.node) && axes.size() == 1 && isa<FloatType>(n.elementType(0))) {
    Formula f{n};
    Value place = findPlace(f, kind, x, axes[0], /*isLast=*/false, /*keeps=*/true);
    auto kept = graph::typeOf(x).clone(graph::typeOf(place).getShape());
    Value y = graph::GatherElementsOp::create(n.builder, n.loc, kept, x, place, axes[0]);
    Shape shape(kept.getShape());
    if (!getInt(n.node, "keepdims", 1))
      shape.erase(shape.begin() + axes[0]);
    return n.produce(n.reshape(y, shape));
  }
  bool isBool = x && n.elementType(0).isInteger(1), isExtremum = kind == Reduction::max || kind == Reduction::min;
  if (!x || (isMean && !isa<FloatType>(n.elementType(0))) || (isBool && !isExtremum))
    return n.fail("needs a numeric input, which must be float for a mean");
  Formula f{n};
  if (isBool)
    x = f.convert(x, n.builder.getI32Type());
  int64_t count = 1;
  for (int64_t d : axes)
    count *= n.shape(0)[d];
  Value result = f.reduce(kind, squares ? f.mul(x, x) : x, axes, getInt(n.node, "keepdims", 1));
  return n.produce(isMean ? f.scale(result, 1, count) : isBool ? f.convert(result, n.builder.getI1Type()) : result);
}

bool xlc::onnx::importReduceMean(NodeImport &n) { return importReduce(n, Reduction::sum, true, false); }
bool xlc::onnx::importReduceSumSquare(NodeImport &n) { return importReduce(n, Reduction::sum, false, true); }

/// Reductions of floats: `reduce` gets the axes and whether they stay.
template <typename F> static bool reduceFloats(NodeImport &n, F reduce) {
  Shape axes;
  Value x = readFloats(n, 0);
  return x && readAxes(n, 1, axes) && n.produce(reduce(Formula{n}, x, axes, getInt(n.node, "keepdims", 1) != 0));
}

bool xlc::onnx::importReduceL1(NodeImport &n) {
  return reduceFloats(n, [](Formula f, Value x, Shape &axes, bool keeps) { return f.sum(f.abs(x), axes, keeps); });
}
bool xlc::onnx::importReduceL2(NodeImport &n) {
  return reduceFloats(
      n, [](Formula f, Value x, Shape &axes, bool keeps) { return f.safeSqrt(f.sum(f.mul(x, x), axes, keeps)); });
}
bool xlc::onnx::importReduceLogSum(NodeImport &n) {
  return reduceFloats(n, [](Formula f, Value x, Shape &axes, bool keeps) { return f.log(f.sum(x, axes, keeps)); });
}
bool xlc::onnx::importReduceLogSumExp(NodeImport &n) {
  return reduceFloats(
      n, [](Formula f, Value x, Shape &axes, bool keeps) { return axes.empty() ? x : f.logSumExp(x, axes, keeps); });
}

bool xlc::onnx::importLpNormalization(NodeImport &n) {
  int64_t axis, p = getInt(n.node, "p", 2);
  Value x = readFloats(n, 0);
  if (!x || !readAxis(n, -1, axis))
    return false;
  if (p != 1 && p != 2)
    return n.fail("has p = " + Twine(p) + "; 1 and 2 are supported");
  Formula f{n};
  Value norm = p == 1 ? f.sum(f.abs(x), axis, true) : f.safeSqrt(f.sum(f.mul(x, x), axis, true));
  norm = f.select(f.isEqual(norm, 0), f.number(1, norm), norm);
  return n.produce(f.div(x, n.broadcast(norm, graph::typeOf(x).getShape())));
}

bool xlc::onnx::importMeanVarianceNormalization(NodeImport &n) {
  Shape axes = getInts(n.node, "axes").value_or(Shape{0, 2, 3});
  Value x = readFloats(n, 0);
  if (!x)
    return false;
  if (std::string problem = normalizeAxes(axes, (int64_t)n.shape(0).size()); !problem.empty())
    return n.fail(problem);
  Formula f{n};
  ArrayRef<int64_t> shape = graph::typeOf(x).getShape();
  int64_t count = 1;
  for (int64_t d : axes)
    count *= shape[d];
  Value centered = f.sub(x, n.broadcast(f.scale(f.sum(x, axes, true), 1, count), shape));
  Value variance = f.scale(f.sum(f.mul(centered, centered), axes, true), 1, count);
  return n.produce(f.div(centered, n.broadcast(f.add(f.safeSqrt(variance), 1e-9), shape)));
}

/// The place of the largest or smallest element; of equal ones the first, or the last with select_last_index.
bool xlc::onnx::importArgExtremum(NodeImport &n, Reduction kind) {
  int64_t axis;
  Value x = n.value(0);
  if (!x || n.elementType(0).isInteger(1) || !readAxis(n, 0, axis))
    return n.problem.empty() ? n.fail("needs a numeric input") : false;
  if (shapeOf(x)[axis] == 0)
    return n.fail("requests the index of an extremum along dimension " + Twine(axis) + ", which has no elements");
  Formula f{n};
  return n.produce(findPlace(f, kind, x, axis, getInt(n.node, "select_last_index", 0), getInt(n.node, "keepdims", 1)));
}

//===----------------------------------------------------------------------===//
// Pairs of elements along one dimension
//===----------------------------------------------------------------------===//

namespace {
/// Dimension `axis` of x, moved to the end, as two: [..., i, j]. Values of dimension j are combined for every i.
struct Pairs {
  Pairs(Formula f, Value x, int64_t axis) : f(f) {
    rank = f.rankOf(x);
    for (int64_t d = 0; d < rank; ++d)
      order.push_back(d);
    std::swap(order[axis], order[rank - 1]);
    row = f.transpose(x, order);
    square.assign(graph::typeOf(row).getShape().begin(), graph::typeOf(row).getShape().end());
    square.push_back(size = square.back());
  }

  /// The row's elements along j, or along i.
  Value alongJ(Value x) {
    SmallVector<int64_t> shape(graph::typeOf(x).getShape());
    shape.insert(shape.end() - 1, 1);
    return f.broadcast(f.reshape(x, shape), square);
  }
  Value alongI(Value x) {
    SmallVector<int64_t> shape(graph::typeOf(x).getShape());
    shape.push_back(1);
    return f.broadcast(f.reshape(x, shape), square);
  }
  Value i() { return f.iota(square, rank - 1); }
  Value j() { return f.iota(square, rank); }
  Value combine(Value x) { return f.reduce(Reduction::sum, x, rank, false); }
  /// Back to where the dimension was.
  Value restore(Value y) { return f.transpose(y, order); }

  Formula f;
  Value row;
  int64_t rank, size;
  SmallVector<int64_t> order, square;
};

/// The quadratic rules are for experts, heads and positions, not for vocabularies.
constexpr int64_t maximumPairs = 8192;

bool checkPairs(NodeImport &n, int64_t size) {
  return size <= maximumPairs || n.fail("works along a dimension of " + Twine(size) + " elements, but at most " +
                                        Twine(maximumPairs) + " are supported");
}
} // namespace

bool xlc::onnx::importCumSum(NodeImport &n) {
  Value x = n.value(0);
  const ConstantTensor *given = n.constant(1);
  int64_t axis = given && given->isSplat() && !isFloat(given->type) ? given->ints[0] : 0;
  if (!x || !given || !given->isSplat() || n.elementType(0).isInteger(1))
    return n.fail("needs a numeric input, and one axis that is known when the model is compiled");
  if (std::string problem = normalizeAxis(axis, (int64_t)n.shape(0).size()); !problem.empty())
    return n.fail(problem);
  if (!checkPairs(n, n.shape(0)[axis]))
    return false;
  bool isReverse = getInt(n.node, "reverse", 0), isExclusive = getInt(n.node, "exclusive", 0);
  Formula f{n};
  Pairs pairs(f, x, axis);
  using graph::Predicate;
  auto predicate =
      isReverse ? (isExclusive ? Predicate::gt : Predicate::ge) : (isExclusive ? Predicate::lt : Predicate::le);
  Value counts = f.compare(predicate, pairs.j(), pairs.i());
  return n.produce(pairs.restore(pairs.combine(f.select(counts, pairs.alongJ(pairs.row), 0))));
}

/// An element's rank is how many are before it; the k-th value is the one of rank k.
bool xlc::onnx::importTopK(NodeImport &n) {
  int64_t axis;
  Value x = n.value(0);
  const ConstantTensor *count = n.constant(1);
  if (!x || n.elementType(0).isInteger(1) || !count || !count->isSplat() || isFloat(count->type))
    return n.fail("needs a numeric input, and a k that is known when the model is compiled");
  if (!readAxis(n, -1, axis) || !checkPairs(n, n.shape(0)[axis]))
    return false;
  int64_t k = count->ints[0];
  if (k < 1 || k > n.shape(0)[axis])
    return n.fail("has k = " + Twine(k) + ", which must be between 1 and " + Twine(n.shape(0)[axis]));
  Formula f{n};
  Pairs pairs(f, x, axis);
  Value other = pairs.alongJ(pairs.row), mine = pairs.alongI(pairs.row);
  Value better = getInt(n.node, "largest", 1) ? f.isLess(mine, other) : f.isLess(other, mine);
  Value isBefore = f.either(better, f.both(f.isEqual(mine, other), f.isLess(pairs.j(), pairs.i())));
  Value ranks = pairs.combine(f.convert(isBefore, n.builder.getI64Type()));
  pairs.square[pairs.rank - 1] = k; // [..., k, elements]
  Value isTaken = f.isEqual(pairs.alongJ(ranks), pairs.i());
  n.produce(pairs.restore(pairs.combine(f.select(isTaken, pairs.alongJ(pairs.row), 0))));
  return n.produce(pairs.restore(pairs.combine(f.select(isTaken, pairs.j(), 0))));
}
