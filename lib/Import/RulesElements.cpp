// Import rules for lookups and updates at single elements. If positions are known and distinct, an update of rows
// becomes a gather from the updates, selected where there is one; otherwise it is a scatter, in which the last update
// of a position is kept.
#include "DescribeNames.h"
#include "ReadInputs.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

namespace {

/// Known indices without the leading dimensions along which they repeat; at most up to `axis`.
ConstantTensor compactIndices(const ConstantTensor &indices, int64_t axis) {
  int64_t lead = 0;
  while (lead < axis && indices.stored[lead] == 1)
    ++lead;
  ConstantTensor narrow = indices;
  narrow.shape = Shape(ArrayRef(indices.shape).drop_front(lead));
  narrow.stored = Shape(ArrayRef(indices.stored).drop_front(lead));
  return narrow.materialized();
}

/// What GatherElements and ScatterElements have in common: data, cut to the extent of the indices but for `axis`.
struct ElementAccess {
  explicit ElementAccess(NodeImport &n) : n(n) {}

  bool read() {
    data = n.value(0);
    if (!data || !readAxis(n, 0, axis))
      return false;
    Shape shape = n.shape(0), indexShape = n.shape(1);
    if (indexShape.size() != shape.size())
      return n.fail("has indices of rank " + Twine(indexShape.size()) + ", but data of rank " + Twine(shape.size()));
    extent = indexShape;
    extent[axis] = shape[axis];
    for (size_t d = 0; d < shape.size(); ++d)
      if (extent[d] > shape[d])
        return n.fail("has indices of size " + Twine(extent[d]) + " in dimension " + Twine(d) + ", but data of size " +
                      Twine(shape[d]));
    indices = readPlaces();
    return indices != nullptr;
  }

  Value cut() {
    Formula f{n};
    return extent == n.shape(0) ? data : f.slice(data, SmallVector<int64_t>(extent.size(), 0), extent);
  }

  NodeImport &n;
  Value data, indices;
  int64_t axis = 0;
  Shape extent; ///< of the part of data that indices can reach

private:
  Value readPlaces() {
    if (!n.constant(1))
      return readIndices(n, 1, extent[axis]);
    ConstantTensor compact = compactIndices(*n.constant(1), axis);
    ImportedValue held;
    held.constant = std::make_shared<ConstantTensor>(compact);
    ImportedValue *inputs[] = {&held};
    NodeImport one(n.node, n.opset, n.builder, n.loc, inputs, Value());
    Value value = readIndices(one, 0, extent[axis]);
    n.problem = one.problem;
    return value;
  }
};

Value gatherElements(NodeImport &n, Value x, Value indices, int64_t axis) {
  auto type = graph::typeOf(x), indexType = graph::typeOf(indices);
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = indexType.getDimSize(axis - (type.getRank() - indexType.getRank()));
  return graph::GatherElementsOp::create(n.builder, n.loc, type.clone(shape), x, indices, axis);
}

Value scatterElements(NodeImport &n, Value indices, Value updates, int64_t axis, int64_t size) {
  auto type = graph::typeOf(updates);
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = size;
  return graph::ScatterElementsAddOp::create(n.builder, n.loc, type.clone(shape), indices, updates, axis);
}

/// x followed by zeros up to `shape`.
Value padTo(NodeImport &n, Value x, ArrayRef<int64_t> shape) {
  auto type = graph::typeOf(x);
  SmallVector<int64_t> low(type.getRank(), 0), high;
  for (int64_t d = 0; d < type.getRank(); ++d)
    high.push_back(shape[d] - type.getDimSize(d));
  return type.getShape() == shape ? x
                                  : graph::PadOp::create(n.builder, n.loc, type.clone(shape), x,
                                                         n.scalar(0, type.getElementType()), low, high)
                                        .getResult();
}

/// `data` with `part` in place of its first elements in every dimension.
Value replaceCorner(NodeImport &n, Value data, Value part) {
  Formula f{n};
  ArrayRef<int64_t> shape = graph::typeOf(data).getShape();
  for (int64_t d = (int64_t)shape.size() - 1; d >= 0; --d) {
    SmallVector<int64_t> offsets(shape.size(), 0), rest(graph::typeOf(part).getShape()), whole(rest);
    if (rest[d] == shape[d])
      continue;
    offsets[d] = rest[d], rest[d] = shape[d] - rest[d], whole[d] = shape[d];
    Value parts[] = {part, f.slice(data, offsets, rest)};
    part = graph::ConcatOp::create(n.builder, n.loc, graph::typeOf(data).clone(whole), parts, d);
  }
  return part;
}

/// What a scatter does with its updates; `kind` has none where it adds them. False (and a problem) for what it does else.
bool readReduction(NodeImport &n, std::optional<graph::Scatter> &kind) {
  std::string reduction = getString(n.node, "reduction", "none");
  if (reduction != "add") {
    kind = graph::symbolizeScatter(reduction == "none" ? "last" : reduction);
    if (!kind || reduction == "last")
      return n.fail("has reduction '" + reduction + "'; none, add, max and min are supported");
  }
  if (n.elementType(2) != n.elementType(0))
    return n.fail("needs updates of the data's type");
  return true;
}

bool checkSums(NodeImport &n) {
  return isa<FloatType>(n.elementType(0)) ||
         n.fail("adds to integers at indices that are not known when the model is compiled, which is supported for "
                "floats only");
}

/// Booleans are scattered as numbers.
Value scatterInto(NodeImport &n, graph::Scatter kind, Value base, Value indices, Value updates, int64_t axis) {
  Formula f{n};
  bool isBoolean = graph::typeOf(base).getElementType().isInteger(1);
  if (isBoolean)
    base = f.convert(base, n.builder.getI32Type()), updates = f.convert(updates, n.builder.getI32Type());
  Value y = graph::ScatterElementsOp::create(n.builder, n.loc, base.getType(), kind, base, indices, updates, axis);
  return isBoolean ? f.compare(graph::Predicate::ne, y, f.number(0, y)) : y;
}

bool areDistinct(ArrayRef<int64_t> targets) {
  SmallVector<int64_t> sorted(targets);
  llvm::sort(sorted);
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

/// For each of `rows` targets the one of `targets` that names it, or -1.
SmallVector<int64_t> findSources(ArrayRef<int64_t> targets, int64_t rows) {
  SmallVector<int64_t> sources(rows, -1);
  for (auto [i, target] : llvm::enumerate(targets))
    sources[target] = (int64_t)i;
  return sources;
}

Value constantOf(NodeImport &n, ArrayRef<int64_t> values, ArrayRef<int64_t> shape) {
  return n.reshape(Formula{n}.integers(values), shape);
}

/// updates at `sources` where there is one, else data; sources index rows of [rows, rest...] updates.
Value replaceRows(NodeImport &n, Value data, Value updates, ArrayRef<int64_t> sources) {
  Formula f{n};
  SmallVector<int64_t> clamped, kept(f.rankOf(data), 1);
  for (int64_t source : sources)
    clamped.push_back(std::max<int64_t>(source, 0));
  Value taken = f.gather(updates, f.integers(clamped), 0);
  kept[0] = (int64_t)sources.size();
  Value isTaken =
      f.compare(graph::Predicate::ge, constantOf(n, sources, kept), f.number(0, constantOf(n, sources, kept)));
  return f.select(n.broadcast(isTaken, graph::typeOf(data).getShape()), taken, data);
}

/// The exporter writes a mean of PyTorch's scatter_reduce as a scatter that replaces; the call says what it was. Before it
/// stands one that clears the places, where what was there is not among the terms.
bool isLostMean(NodeImport &n, bool &includesBase) {
  const TracedCall &call = n.node.call;
  bool isMean = StringRef(call.target).starts_with("aten.scatter_reduce") && call.find(4, "reduce") == "mean";
  includesBase = call.find(5, "include_self") != "False";
  const ConstantTensor *updates = n.constant(2);
  bool clears = !includesBase && updates && updates->isSplat() && updates->asDouble(0) == 0;
  return isMean && !clears && getString(n.node, "reduction", "none") == "none";
}

} // namespace

bool xlc::onnx::importGatherElements(NodeImport &n) {
  ElementAccess access(n);
  return access.read() && n.produce(gatherElements(n, access.cut(), access.indices, access.axis));
}

bool xlc::onnx::importScatterElements(NodeImport &n) {
  ElementAccess access(n);
  std::optional<graph::Scatter> kind;
  if (!access.read() || !readReduction(n, kind) || (!kind && !checkSums(n)))
    return false;
  Value updates = n.value(2);
  if (!updates || n.shape(2) != n.shape(1))
    return n.fail("needs updates of the same shape as the indices");
  int64_t axis = access.axis;
  Formula f{n};
  Shape shape = n.shape(0);
  auto sum = [&](Value of) { return padTo(n, scatterElements(n, access.indices, of, axis, shape[axis]), shape); };
  if (bool includesBase; isLostMean(n, includesBase)) {
    if (!checkSums(n))
      return false;
    Value terms = sum(f.number(1, updates)), count = includesBase ? f.add(terms, 1.0) : f.max(terms, 1.0);
    return n.produce(f.div(f.add(access.data, sum(updates)), count));
  }
  if (kind)
    return n.produce(replaceCorner(n, access.data, scatterInto(n, *kind, access.cut(), access.indices, updates, axis)));
  return n.produce(f.add(access.data, sum(updates)));
}

//===----------------------------------------------------------------------===//
// GatherND and ScatterND: rows of a flat table
//===----------------------------------------------------------------------===//

namespace {

/// The places of an index tensor [..., k] in the flattened first dimensions of the data. `known`: as numbers.
struct IndexPlaces {
  Value value;
  std::optional<SmallVector<int64_t>> known;
};

/// `sizes`: what the components of an index run over; `batch` leading dimensions of both count by themselves.
bool readIndexPlaces(NodeImport &n, ArrayRef<int64_t> sizes, ArrayRef<int64_t> batch, IndexPlaces &places) {
  Formula f{n};
  Shape shape = n.shape(1);
  int64_t depth = shape.back();
  Shape rows(ArrayRef<int64_t>(shape).drop_back());
  Value indices = n.constant(1) ? Value() : n.value(1);
  if (!isa_and_nonnull<IntegerType>(n.elementType(1)) || n.elementType(1).isInteger(1))
    return n.fail("needs integer indices");
  if (const ConstantTensor *given = n.constant(1)) {
    ConstantTensor all = given->materialized();
    int64_t inBatch = countElements(ArrayRef<int64_t>(rows).drop_front(batch.size()));
    places.known.emplace();
    for (int64_t row = 0; row < countElements(rows); ++row) {
      int64_t place = row / std::max<int64_t>(inBatch, 1);
      for (int64_t k = 0; k < depth; ++k) {
        int64_t index = all.ints[row * depth + k] + (all.ints[row * depth + k] < 0 ? sizes[k] : 0);
        if (index < 0 || index >= sizes[k])
          return n.fail("has index " + Twine(index) + " for a dimension of size " + Twine(sizes[k]));
        place = place * sizes[k] + index;
      }
      places.known->push_back(place);
    }
    places.value = constantOf(n, *places.known, rows);
    return true;
  }
  Value place;
  for (size_t d = 0; d < batch.size(); ++d) {
    Value at = f.iota(rows, (int64_t)d);
    place = place ? f.add(f.mul(place, (double)batch[d]), at) : at;
  }
  for (int64_t k = 0; k < depth; ++k) {
    SmallVector<int64_t> offsets(shape.size(), 0), one(shape.begin(), shape.end());
    offsets.back() = k, one.back() = 1;
    Value at = f.convert(n.reshape(f.slice(indices, offsets, one), rows), n.builder.getI64Type());
    at = f.select(f.isLess(at, 0), f.add(at, (double)sizes[k]), at);
    at = f.min(f.max(at, 0), (double)(sizes[k] - 1));
    place = place ? f.add(f.mul(place, (double)sizes[k]), at) : at;
  }
  places.value = place;
  return true;
}

} // namespace

bool xlc::onnx::importGatherND(NodeImport &n) {
  Shape from = n.shape(0), indexShape = n.shape(1);
  int64_t batch = getInt(n.node, "batch_dims", 0), rank = (int64_t)from.size();
  if (batch < 0 || batch >= (int64_t)indexShape.size() || batch + indexShape.back() > rank || indexShape.back() < 1 ||
      ArrayRef<int64_t>(from).take_front(batch) != ArrayRef<int64_t>(indexShape).take_front(batch))
    return n.fail("has indices of shape " + describeShape(indexShape) + " and batch_dims = " + Twine(batch) +
                  ", which do not match data of shape " + describeShape(from));
  int64_t depth = batch + indexShape.back();
  ArrayRef<int64_t> whole = from, rest = whole.drop_front(depth);
  IndexPlaces places;
  Value data = n.value(0);
  if (!data || !readIndexPlaces(n, whole.slice(batch, indexShape.back()), whole.take_front(batch), places))
    return false;
  SmallVector<int64_t> flat{countElements(whole.take_front(depth))};
  llvm::append_range(flat, rest);
  return n.produce(Formula{n}.gather(n.reshape(data, flat), places.value, 0));
}

bool xlc::onnx::importScatterND(NodeImport &n) {
  Shape shape = n.shape(0), indexShape = n.shape(1);
  std::optional<graph::Scatter> kind;
  if (indexShape.empty() || indexShape.back() < 1 || indexShape.back() > (int64_t)shape.size())
    return n.fail("has indices of shape " + describeShape(indexShape) +
                  "; the last dimension must have a size of 1 to " + Twine(shape.size()) + ", the rank of the data");
  ArrayRef<int64_t> sizes = ArrayRef<int64_t>(shape).take_front(indexShape.back());
  ArrayRef<int64_t> rest = ArrayRef<int64_t>(shape).drop_front(indexShape.back());
  SmallVector<int64_t> rows(indexShape.begin(), indexShape.end() - 1), flat{countElements(sizes)};
  SmallVector<int64_t> wanted(rows);
  llvm::append_range(wanted, rest);
  llvm::append_range(flat, rest);
  if (!readReduction(n, kind))
    return false;
  if (ArrayRef<int64_t>(n.shape(2)) != ArrayRef<int64_t>(wanted))
    return n.fail("has updates of shape " + describeShape(n.shape(2)) + ", must be " + describeShape(wanted));
  IndexPlaces places;
  Value data = n.value(0), updates = n.value(2);
  if (!data || !updates || !readIndexPlaces(n, sizes, {}, places))
    return false;
  Formula f{n};
  data = n.reshape(data, flat);
  SmallVector<int64_t> list{countElements(rows)};
  llvm::append_range(list, rest);
  if (list[0] == 0)
    return n.produce(n.reshape(data, shape));
  if (kind == graph::Scatter::last && places.known && areDistinct(*places.known))
    return n.produce(
        n.reshape(replaceRows(n, data, n.reshape(updates, list), findSources(*places.known, flat[0])), shape));
  if (kind) {
    SmallVector<int64_t> column(flat.size(), 1);
    column[0] = list[0];
    Value indices = n.reshape(places.value, column);
    return n.produce(n.reshape(scatterInto(n, *kind, data, indices, n.reshape(updates, list), 0), shape));
  }
  if (!checkSums(n))
    return false;
  Value sums = graph::ScatterAddOp::create(n.builder, n.loc, data.getType(), places.value, updates, 0);
  return n.produce(n.reshape(f.add(data, sums), shape));
}

/// values[1] where the index is, values[0] elsewhere; an index outside is nowhere.
bool xlc::onnx::importOneHot(NodeImport &n) {
  const ConstantTensor *given = n.constant(1);
  Shape shape = n.shape(0);
  if (!given || !given->isSplat() || !n.elementType(0) || n.elementType(0).isInteger(1) ||
      countElements(n.shape(2)) != 2)
    return n.fail("needs numeric indices, a depth that is known when the model is compiled, and two values");
  int64_t depth = (int64_t)std::clamp(given->asDouble(0), -1.0, 1e12), axis = getInt(n.node, "axis", -1);
  if (std::string problem = normalizeAxis(axis, (int64_t)shape.size() + 1); !problem.empty())
    return n.fail(problem);
  if (depth < 1)
    return n.fail("has depth " + Twine(depth) + "; it must be at least 1");
  Formula f{n};
  Value indices = n.value(0), values = n.value(2);
  if (!indices || !values)
    return false;
  indices = f.convert(indices, n.builder.getI64Type());
  indices = f.select(f.isLess(indices, 0), f.add(indices, (double)depth), indices);
  shape.insert(shape.begin() + axis, 1);
  indices = n.reshape(indices, shape);
  shape[axis] = depth;
  Value isHere = f.isEqual(n.broadcast(indices, shape), f.iota(shape, axis));
  values = n.reshape(values, {2});
  Value on = n.broadcast(n.reshape(f.slice(values, 1, 1), {}), shape);
  Value off = n.broadcast(n.reshape(f.slice(values, int64_t(0), 1), {}), shape);
  return n.produce(f.select(isHere, on, off));
}

/// Ones on a diagonal; only the shape of the input matters.
bool xlc::onnx::importEyeLike(NodeImport &n) {
  int64_t dtype = getInt(n.node, "dtype", 0);
  Type element = dtype == 0              ? n.elementType(0)
                 : byteWidth((int)dtype) ? convertType((ElementType)dtype, n.builder.getContext())
                                         : Type();
  if (n.shape(0).size() != 2 || !element)
    return n.fail("needs an input of rank 2 and a supported dtype");
  Formula f{n};
  Shape shape = n.shape(0);
  Value row = f.iota(shape, 0), column = f.iota(shape, 1);
  return n.produce(f.convert(f.isEqual(column, f.add(row, (double)getInt(n.node, "k", 0))), element));
}

/// The slices along an axis, or the elements, whose condition is true.
bool xlc::onnx::importCompress(NodeImport &n) {
  const ConstantTensor *condition = n.constant(1);
  Value x = n.value(0);
  if (!x || !condition)
    return n.fail("needs a condition that is known when the model is compiled");
  bool isFlat = !n.node.attributes.contains("axis");
  int64_t axis = 0;
  if (!isFlat && !readAxis(n, 0, axis))
    return false;
  if (isFlat)
    x = n.reshape(x, countElements(n.shape(0)));
  SmallVector<int64_t> places;
  ConstantTensor all = condition->materialized();
  for (auto [i, isTaken] : llvm::enumerate(all.ints))
    if (isTaken)
      places.push_back((int64_t)i);
  if (places.empty() || places.back() >= graph::typeOf(x).getDimSize(axis))
    return n.fail("selects no elements, or elements outside the tensor");
  Formula f{n};
  return n.produce(f.gather(x, f.integers(places), axis));
}
