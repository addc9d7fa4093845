// Import rules that move, select and combine elements by place.
#include "ReadInputs.h"
#include "xlc/Dialect/Graph/Stops.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

static Type withShape(Value like, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, cast<RankedTensorType>(like.getType()).getElementType());
}

/// Ends a rule whose result is input 0 under another shape.
static bool produceReshaped(NodeImport &n, const std::string &problem, ArrayRef<int64_t> shape) {
  if (!problem.empty())
    return n.fail(problem);
  Value x = n.value(0);
  return x && n.produce(n.reshape(x, shape));
}

bool xlc::onnx::importReshape(NodeImport &n) {
  std::optional<Shape> request;
  Shape shape;
  if (!readInts(n, 1, "shape", request))
    return false;
  return produceReshaped(n, inferReshape(n.shape(0), *request, getInt(n.node, "allowzero", 0), shape), shape);
}

bool xlc::onnx::importSqueeze(NodeImport &n) {
  std::optional<Shape> axes;
  Shape shape;
  return readInts(n, 1, "axes", axes) && produceReshaped(n, inferSqueeze(n.shape(0), axes, shape), shape);
}

bool xlc::onnx::importUnsqueeze(NodeImport &n) {
  std::optional<Shape> axes;
  Shape shape;
  return readInts(n, 1, "axes", axes) &&
         produceReshaped(n, inferUnsqueeze(n.shape(0), axes.value_or(Shape()), shape), shape);
}

bool xlc::onnx::importFlatten(NodeImport &n) {
  Shape from = n.shape(0);
  int64_t rank = (int64_t)from.size(), axis = getInt(n.node, "axis", 1);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis > rank)
    return n.fail("has an axis that is out of range for rank " + Twine(rank));
  ArrayRef<int64_t> shape = from;
  return produceReshaped(n, "", {countElements(shape.take_front(axis)), countElements(shape.drop_front(axis))});
}

bool xlc::onnx::importTranspose(NodeImport &n) {
  int64_t rank = (int64_t)n.shape(0).size();
  Shape permutation = getInts(n.node, "perm").value_or(Shape());
  if (permutation.empty())
    for (int64_t d = rank - 1; d >= 0; --d)
      permutation.push_back(d);
  Shape sorted = permutation;
  if ((int64_t)sorted.size() != rank || !normalizeAxes(sorted, rank).empty() ||
      llvm::any_of(permutation, [](int64_t d) { return d < 0; }))
    return n.fail("has a perm that is not a permutation of " + Twine(rank) + " dimensions");
  Value x = n.value(0);
  return x && n.produce(n.transpose(x, permutation));
}

bool xlc::onnx::importExpand(NodeImport &n) {
  std::optional<Shape> request;
  Shape shape;
  if (!readInts(n, 1, "shape", request))
    return false;
  if (llvm::any_of(*request, [](int64_t size) { return size < 1; }) || !broadcastShapes(n.shape(0), *request, shape))
    return n.fail("has an input that does not broadcast to the requested shape");
  Value x = n.value(0);
  return x && n.produce(n.broadcast(x, shape));
}

/// What has no elements adds nothing; one input that has some is the result itself.
bool xlc::onnx::importConcat(NodeImport &n) {
  Shape shape = n.shape(0);
  int64_t rank = (int64_t)shape.size(), axis = getInt(n.node, "axis", 0);
  if (std::string problem = normalizeAxis(axis, rank); !problem.empty())
    return n.fail(problem);
  SmallVector<Value> values;
  shape[axis] = 0;
  for (size_t i = 0; i < n.numInputs(); ++i) {
    Shape other = n.shape(i);
    if ((int64_t)other.size() != rank || n.elementType(i) != n.elementType(0))
      return n.fail("has inputs that differ in rank or type");
    shape[axis] += other[axis];
    other[axis] = shape[axis];
    if (other != shape)
      return n.fail("has inputs that differ in a dimension other than " + Twine(axis));
    if (n.shape(i)[axis] == 0)
      continue;
    values.push_back(n.value(i));
    if (!values.back())
      return false;
  }
  if (values.size() == 1)
    return n.produce(values[0]);
  return n.produce(graph::ConcatOp::create(n.builder, n.loc, withShape(values[0], shape), values, axis));
}

static Value slice(NodeImport &n, Value x, const SliceRange &range) {
  return graph::SliceOp::create(n.builder, n.loc, withShape(x, range.sizes), x, range.offsets, range.strides);
}

bool xlc::onnx::importSlice(NodeImport &n) {
  for (size_t i = 1; i < n.numInputs(); ++i)
    if (n.has(i) && !n.constant(i))
      return n.fail("needs bounds that are known when the model is compiled");
  SliceRange range;
  std::string problem = inferSlice(n.shape(0), *n.constant(1), *n.constant(2), n.constant(3), n.constant(4), range);
  if (!problem.empty())
    return n.fail(problem);
  Value x = n.value(0);
  return x && n.produce(slice(n, x, range));
}

bool xlc::onnx::importSplit(NodeImport &n) {
  Shape from = n.shape(0), pieces;
  int64_t axis = getInt(n.node, "axis", 0), at = 0;
  if (std::string problem = normalizeAxis(axis, (int64_t)from.size()); !problem.empty())
    return n.fail(problem);
  if (n.has(1) && !n.constant(1))
    return n.fail("needs sizes that are known when the model is compiled");
  if (std::string problem = inferSplit(n.node, n.constant(1), from[axis], pieces); !problem.empty())
    return n.fail(problem);
  Value x = n.value(0);
  if (!x)
    return false;
  for (int64_t piece : pieces) {
    SliceRange range{Shape(from.size(), 0), Shape(from.size(), 1), from};
    range.offsets[axis] = at;
    range.sizes[axis] = piece;
    n.produce(slice(n, x, range));
    at += piece;
  }
  return true;
}

/// Amounts of padding per dimension, from the input or attribute `pads` and `axes`.
static bool readPads(NodeImport &n, Shape &low, Shape &high) {
  std::optional<Shape> pads, axes;
  if (!readInts(n, 1, "pads", pads) || !readInts(n, 3, "axes", axes))
    return false;
  int64_t rank = (int64_t)n.shape(0).size();
  if (!axes)
    axes = llvm::to_vector<4>(llvm::seq<int64_t>(0, rank));
  if (!pads || pads->size() != 2 * axes->size())
    return n.fail("needs two pads for each axis");
  low.assign(rank, 0), high.assign(rank, 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    int64_t axis = (*axes)[i], before = (*pads)[i], after = (*pads)[i + axes->size()];
    if (std::string problem = normalizeAxis(axis, rank); !problem.empty())
      return n.fail(problem);
    constexpr int64_t limit = int64_t(1) << 40;
    if (std::abs(before) > limit || std::abs(after) > limit)
      return n.fail("pads by more than 2^40 elements");
    low[axis] = before, high[axis] = after;
    if (n.shape(0)[axis] + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0) <= 0)
      return n.fail("crops all elements of a dimension");
  }
  return true;
}

/// Negative amounts cut off.
bool xlc::onnx::importPad(NodeImport &n) {
  std::string mode = getString(n.node, "mode", "constant");
  Shape low, high, from = n.shape(0);
  Value x = n.value(0);
  bool isConstant = mode == "constant";
  if (!isConstant && mode != "reflect" && mode != "edge" && mode != "wrap")
    return n.fail("has mode '" + mode + "'; constant, reflect, edge and wrap are supported");
  if (!x || !readPads(n, low, high))
    return false;
  if (!isConstant) {
    Value padded = padByCopy(n, x, mode, low, high);
    return padded && n.produce(padded);
  }
  if (n.has(2) && countElements(n.shape(2)) != 1)
    return n.fail("needs one value to pad with");
  SliceRange cut{Shape(from.size(), 0), Shape(from.size(), 1), from};
  Shape shape = from;
  for (size_t d = 0; d < from.size(); ++d) {
    cut.offsets[d] = std::max<int64_t>(0, -low[d]);
    cut.sizes[d] += std::min<int64_t>(0, low[d]) + std::min<int64_t>(0, high[d]);
    low[d] = std::max<int64_t>(0, low[d]);
    high[d] = std::max<int64_t>(0, high[d]);
    shape[d] = cut.sizes[d] + low[d] + high[d];
  }
  Value with = n.has(2) ? n.reshape(n.value(2), {}) : n.scalar(0, n.elementType(0));
  x = cut.sizes == from ? x : slice(n, x, cut);
  return n.produce(graph::PadOp::create(n.builder, n.loc, withShape(x, shape), x, with, low, high));
}

/// Indices that come straight from an input are taken to be in range: Import gives the input a limit, which the
/// runtime checks. Computed ones are counted from the front and clamped.
bool xlc::onnx::importGather(NodeImport &n) {
  int64_t axis;
  if (!readAxis(n, 0, axis))
    return false;
  Value indices = readInputIndices(n, 1);
  if (!indices)
    indices = readIndices(n, 1, n.shape(0)[axis]);
  Value table = indices ? n.value(0) : Value();
  if (!table)
    return false;
  Value rows = Formula{n}.gather(table, indices, axis);
  if (std::optional<int64_t> padding = n.node.paddingIndex) {
    int64_t size = n.shape(0)[axis], row = *padding < 0 ? *padding + size : *padding;
    if (row < 0 || row >= size)
      return n.fail("has the padding row " + Twine(*padding) + ", but its table has " + Twine(size) + " rows");
    rows.getDefiningOp()->setAttr(graph::kPadding, n.builder.getI64IntegerAttr(row));
  }
  return n.produce(rows);
}

/// select(column - row >= k, x, 0), from indices.
bool xlc::onnx::importTrilu(NodeImport &n) {
  Shape shape = n.shape(0);
  int64_t rank = (int64_t)shape.size();
  if (rank < 2 || (n.has(1) && (!n.constant(1) || !n.constant(1)->isSplat())))
    return n.fail("needs an input of rank 2 or more, and a k that is known when the model is compiled");
  double k = n.has(1) ? n.constant(1)->asDouble(0) : 0;
  Value x = n.value(0);
  if (!x)
    return false;
  auto i64 = RankedTensorType::get(ArrayRef<int64_t>(shape).take_back(2), n.builder.getI64Type());
  Value row = graph::IotaOp::create(n.builder, n.loc, i64, 0), column = graph::IotaOp::create(n.builder, n.loc, i64, 1);
  Value edge = graph::AddOp::create(n.builder, n.loc, i64, row, n.number(k, row));
  auto predicate = getInt(n.node, "upper", 1) ? graph::Predicate::ge : graph::Predicate::le;
  Value keeps = graph::CompareOp::create(n.builder, n.loc, i64.clone(n.builder.getI1Type()), predicate, column, edge);
  keeps = n.broadcast(keeps, shape);
  return n.produce(graph::SelectOp::create(n.builder, n.loc, x.getType(), keeps, x, n.number(0, x)));
}
