// Evaluation rules for shape: ops that move elements without computing on them.
//
// Half of an exported graph is shape arithmetic. Once batch and sequence are numbers, all of it
// can be computed here, so that none of it reaches the `graph` dialect.
#include "Evaluate.h"
#include "DescribeNames.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

/// Copies elements of `from` (all stored) by strides and a start: y[i] = x[start + sum i_d * strides_d].
ConstantTensor takeStrided(const ConstantTensor &from, ArrayRef<int64_t> shape, const Shape &strides, int64_t start) {
  ConstantTensor result(from.type, shape);
  size_t i = 0;
  walk(shape, {strides}, [&](ArrayRef<int64_t> offset) {
    if (isFloat(from.type))
      result.floats[i++] = from.floats[start + offset[0]];
    else
      result.ints[i++] = from.ints[start + offset[0]];
  });
  return result;
}

bool withShape(Evaluation &e, ConstantTensor tensor, ArrayRef<int64_t> shape) {
  ConstantTensor result = tensor.isSplat() ? std::move(tensor) : tensor.materialized();
  result.stored = result.isSplat() ? Shape(shape.size(), 1) : Shape(shape);
  result.shape = Shape(shape);
  return e.produce(std::move(result));
}

template <typename Move> bool moveDimensions(Evaluation &e, Move move) {
  ConstantTensor result = *e.inputs[0];
  result.shape = move(e.inputs[0]->shape);
  result.stored = move(e.inputs[0]->stored);
  return e.produce(std::move(result));
}

/// Elements of `tensor` along dimension `d` are stored, the others may repeat.
ConstantTensor storeAlong(const ConstantTensor &tensor, int64_t d) {
  if (tensor.stored[d] == tensor.shape[d])
    return tensor;
  ConstantTensor narrow = tensor;
  narrow.shape = tensor.stored;
  narrow.shape[d] = tensor.shape[d];
  ConstantTensor result = narrow.materialized();
  result.shape = tensor.shape;
  return result;
}

} // namespace

bool xlc::onnx::evaluateConstant(Evaluation &e) {
  if (e.node.attributes.size() > 1)
    return e.fail("has several value attributes; exactly one is required");
  for (const auto &entry : e.node.attributes) {
    const Attribute &value = entry.second;
    if (value.kind == Attribute::Kind::Tensor && value.tensor) {
      if (value.tensor->numElements() > maximumStored)
        throw TooManyElements();
      return value.tensor->load() ? e.produce(ConstantTensor::fromFile(*value.tensor))
                                  : e.fail("has a value that cannot be read from its external file");
    }
    if (value.kind == Attribute::Kind::String || value.kind == Attribute::Kind::Strings)
      return e.fail("contains text, which is not supported");
    if (value.kind == Attribute::Kind::Ints)
      return e.produce(ConstantTensor::ofInts(value.ints));
    if (value.kind == Attribute::Kind::Float)
      return e.produce(ConstantTensor::ofFloat(value.f));
    if (value.kind == Attribute::Kind::Int) {
      ConstantTensor result(ElementType::Int64, {});
      result.ints[0] = value.i;
      return e.produce(std::move(result));
    }
    if (value.kind == Attribute::Kind::Floats) {
      ConstantTensor result(ElementType::Float, {(int64_t)value.floats.size()});
      result.floats = value.floats;
      return e.produce(std::move(result));
    }
  }
  return e.fail("has no value attribute of a supported kind");
}

bool xlc::onnx::evaluateConstantOfShape(Evaluation &e) {
  ConstantTensor value = ConstantTensor::ofFloat(0);
  auto it = e.node.attributes.find("value");
  FileTensor *given = it == e.node.attributes.end() ? nullptr : it->second.tensor.get();
  if (given && given->numElements() != 1)
    return e.fail("needs a value of one element");
  if (given && given->load())
    value = ConstantTensor::fromFile(*given);
  ConstantTensor request = e.inputs[0]->materialized();
  int64_t total = 1;
  for (int64_t size : request.ints) {
    if (size < 0)
      return e.fail("requests a dimension of size " + Twine(size) + ", must be at least 0");
    if (MulOverflow(total, size, total))
      return e.fail("requests a shape of more than 2^63 elements");
  }
  value.shape.assign(request.ints.begin(), request.ints.end());
  value.stored.assign(request.ints.size(), 1);
  return total == 0 ? e.produce(ConstantTensor(value.type, value.shape)) : e.produce(std::move(value));
}

bool xlc::onnx::evaluateGatherND(Evaluation &e) {
  const ConstantTensor data = e.inputs[0]->materialized();
  if (e.inputs[1]->shape.empty())
    return e.fail("needs indices of rank 1 or more");
  int64_t last = (int64_t)e.inputs[1]->shape.size() - 1, batch = getInt(e.node, "batch_dims", 0);
  const ConstantTensor indices = batch ? e.inputs[1]->materialized() : storeAlong(*e.inputs[1], last);
  int64_t depth = indices.shape[last];
  if (batch < 0 || batch > last || batch + depth > (int64_t)data.shape.size() ||
      ArrayRef(data.shape).take_front(batch) != ArrayRef(indices.shape).take_front(batch))
    return e.fail("has indices of shape " + describeShape(e.inputs[1]->shape) + " and batch_dims = " + Twine(batch) +
                  ", which do not match data of shape " + describeShape(data.shape));
  Shape shape(ArrayRef(indices.shape).drop_back()), stored(ArrayRef(indices.stored).drop_back());
  int64_t rows = countElements(stored), inner = countElements(ArrayRef(data.shape).drop_front(batch + depth));
  int64_t inBatch = std::max<int64_t>(1, countElements(ArrayRef(indices.shape).slice(batch, last - batch)));
  for (int64_t size : ArrayRef(data.shape).drop_front(batch + depth))
    shape.push_back(size), stored.push_back(size);
  ConstantTensor result(data.type, shape, stored);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t offset = batch ? row / inBatch : 0;
    for (int64_t k = 0; k < depth; ++k) {
      int64_t index = indices.ints[row * depth + k], size = data.shape[batch + k];
      index += index < 0 ? size : 0;
      if (index < 0 || index >= size)
        return e.fail("has index " + Twine(index) + " for a dimension of size " + Twine(size));
      offset = offset * size + index;
    }
    for (int64_t i = 0; i < inner; ++i)
      if (isFloat(data.type))
        result.floats[row * inner + i] = data.floats[offset * inner + i];
      else
        result.ints[row * inner + i] = data.ints[offset * inner + i];
  }
  result.compress();
  return e.produce(std::move(result));
}

bool xlc::onnx::evaluateGather(Evaluation &e) {
  const ConstantTensor table = e.inputs[0]->materialized(), indices = e.inputs[1]->materialized();
  int64_t axis = getInt(e.node, "axis", 0);
  if (std::string problem = normalizeAxis(axis, (int64_t)table.shape.size()); !problem.empty())
    return e.fail(problem);
  Shape shape(ArrayRef(table.shape).take_front(axis));
  llvm::append_range(shape, indices.shape);
  llvm::append_range(shape, ArrayRef(table.shape).drop_front(axis + 1));
  int64_t outer = countElements(ArrayRef(table.shape).take_front(axis)), size = table.shape[axis];
  int64_t inner = countElements(ArrayRef(table.shape).drop_front(axis + 1));
  ConstantTensor result(table.type, shape);
  size_t next = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t index : indices.ints) {
      index += index < 0 ? size : 0;
      if (index < 0 || index >= size)
        return e.fail("has index " + Twine(index) + " for a dimension of size " + Twine(size));
      for (int64_t i = 0; i < inner; ++i, ++next)
        if (isFloat(table.type))
          result.floats[next] = table.floats[(o * size + index) * inner + i];
        else
          result.ints[next] = table.ints[(o * size + index) * inner + i];
    }
  return e.produce(std::move(result));
}

bool xlc::onnx::evaluateConcat(Evaluation &e) {
  int64_t rank = (int64_t)e.inputs[0]->shape.size(), axis = getInt(e.node, "axis", 0);
  if (std::string problem = normalizeAxis(axis, rank); !problem.empty())
    return e.fail(problem);
  Shape shape = e.inputs[0]->shape, stored(rank, 1);
  shape[axis] = 0;
  for (const ConstantTensor *input : e.inputs) {
    if (!input || (int64_t)input->shape.size() != rank || input->type != e.inputs[0]->type)
      return e.fail("has inputs that differ in rank or type");
    for (int64_t d = 0; d < rank; ++d) {
      if (d != axis && input->shape[d] != shape[d])
        return e.fail("has inputs that differ in dimension " + Twine(d));
      stored[d] = input->stored[d] == 0 ? 0 : std::max(stored[d], input->stored[d]);
    }
    shape[axis] += input->shape[axis];
  }
  stored[axis] = shape[axis];
  ConstantTensor result(e.inputs[0]->type, shape, stored);
  int64_t inner = countElements(ArrayRef(stored).drop_front(axis + 1)), at = 0;
  for (const ConstantTensor *input : e.inputs) {
    Shape part = stored, to(rank, 0);
    part[axis] = input->shape[axis];
    int64_t stride = 1;
    for (int64_t d = rank - 1; d >= 0; stride *= stored[d--])
      to[d] = stride;
    walk(part, {getStrides(input->stored), to}, [&](ArrayRef<int64_t> offset) {
      if (isFloat(result.type))
        result.floats[at * inner + offset[1]] = input->floats[offset[0]];
      else
        result.ints[at * inner + offset[1]] = input->ints[offset[0]];
    });
    at += input->shape[axis];
  }
  return e.produce(std::move(result));
}

bool xlc::onnx::evaluateSlice(Evaluation &e) {
  SliceRange range;
  const ConstantTensor *axes = e.hasInput(3) ? e.inputs[3] : nullptr, *steps = e.hasInput(4) ? e.inputs[4] : nullptr;
  std::string problem = inferSlice(e.inputs[0]->shape, *e.inputs[1], *e.inputs[2], axes, steps, range);
  if (!problem.empty())
    return e.fail(problem);
  const ConstantTensor &from = *e.inputs[0];
  Shape stored = range.sizes, strides = getStrides(from.stored);
  int64_t start = 0;
  for (size_t d = 0; d < stored.size(); ++d) {
    stored[d] = from.stored[d] == 1 && stored[d] > 0 ? 1 : stored[d];
    start += strides[d] * range.offsets[d];
    strides[d] *= range.strides[d];
  }
  ConstantTensor result = takeStrided(from, stored, strides, start);
  result.shape = range.sizes;
  return e.produce(std::move(result));
}

bool xlc::onnx::evaluateSplit(Evaluation &e) {
  const ConstantTensor from = e.inputs[0]->materialized();
  int64_t axis = getInt(e.node, "axis", 0);
  Shape pieces;
  if (std::string problem = normalizeAxis(axis, (int64_t)from.shape.size()); !problem.empty())
    return e.fail(problem);
  std::string problem = inferSplit(e.node, e.hasInput(1) ? e.inputs[1] : nullptr, from.shape[axis], pieces);
  if (!problem.empty())
    return e.fail(problem);
  int64_t at = 0;
  Shape strides = getStrides(from.shape);
  for (int64_t piece : pieces) {
    Shape shape = from.shape;
    shape[axis] = piece;
    e.produce(takeStrided(from, shape, strides, strides[axis] * at));
    at += piece;
  }
  return true;
}

bool xlc::onnx::evaluateSqueeze(Evaluation &e) {
  Shape result;
  if (std::string problem = inferSqueeze(e.inputs[0]->shape, e.getInts(1, "axes"), result); !problem.empty())
    return e.fail(problem);
  Shape axes = e.getInts(1, "axes").value_or(Shape());
  normalizeAxes(axes, (int64_t)e.inputs[0]->shape.size());
  bool all = !e.getInts(1, "axes");
  ArrayRef<int64_t> whole = e.inputs[0]->shape;
  return moveDimensions(e, [&](ArrayRef<int64_t> from) {
    Shape to;
    for (size_t d = 0; d < from.size(); ++d)
      if (all ? whole[d] != 1 : !llvm::is_contained(axes, (int64_t)d))
        to.push_back(from[d]);
    return to;
  });
}

bool xlc::onnx::evaluateUnsqueeze(Evaluation &e) {
  Shape axes = e.getInts(1, "axes").value_or(Shape()), result;
  if (std::string problem = inferUnsqueeze(e.inputs[0]->shape, axes, result); !problem.empty())
    return e.fail(problem);
  return moveDimensions(e, [&](ArrayRef<int64_t> from) { return inferUnsqueeze(from, axes, result), result; });
}

bool xlc::onnx::evaluateReshape(Evaluation &e) {
  Shape result;
  ConstantTensor request = e.inputs[1]->materialized();
  std::string problem = inferReshape(e.inputs[0]->shape, request.ints, getInt(e.node, "allowzero", 0), result);
  return problem.empty() ? withShape(e, *e.inputs[0], result) : e.fail(problem);
}

bool xlc::onnx::evaluateFlatten(Evaluation &e) {
  int64_t rank = (int64_t)e.inputs[0]->shape.size(), axis = getInt(e.node, "axis", 1);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis > rank)
    return e.fail("has an axis that is out of range for rank " + Twine(rank));
  ArrayRef<int64_t> shape = e.inputs[0]->shape;
  return withShape(e, *e.inputs[0], {countElements(shape.take_front(axis)), countElements(shape.drop_front(axis))});
}

bool xlc::onnx::evaluateTranspose(Evaluation &e) {
  const ConstantTensor &from = *e.inputs[0];
  int64_t rank = (int64_t)from.shape.size();
  Shape permutation = getInts(e.node, "perm").value_or(Shape()), sorted;
  if (permutation.empty())
    for (int64_t d = rank - 1; d >= 0; --d)
      permutation.push_back(d);
  sorted = permutation;
  if (!normalizeAxes(sorted, rank).empty() || (int64_t)sorted.size() != rank ||
      llvm::any_of(permutation, [](int64_t d) { return d < 0; }))
    return e.fail("has a perm that is not a permutation of " + Twine(rank) + " dimensions");
  Shape shape, stored, strides = getStrides(from.stored), permuted;
  for (int64_t d : permutation)
    shape.push_back(from.shape[d]), stored.push_back(from.stored[d]), permuted.push_back(strides[d]);
  ConstantTensor result = takeStrided(from, stored, permuted, 0);
  result.shape = shape;
  return e.produce(std::move(result));
}

bool xlc::onnx::evaluateExpand(Evaluation &e) {
  ConstantTensor request = e.inputs[1]->materialized();
  Shape shape;
  int64_t total = 1;
  for (int64_t size : request.ints)
    if (size < 0)
      return e.fail("requests a dimension of size " + Twine(size) + ", must be at least 0");
  if (!broadcastShapes(e.inputs[0]->shape, request.ints, shape))
    return e.fail("has an input that does not broadcast to the requested shape");
  for (int64_t size : shape)
    if (MulOverflow(total, size, total))
      return e.fail("requests a shape of more than 2^63 elements");
  return total == 0 ? e.produce(ConstantTensor(e.inputs[0]->type, shape)) : e.produce(e.inputs[0]->broadcastTo(shape));
}

bool xlc::onnx::evaluateShape(Evaluation &e) {
  int64_t rank = (int64_t)e.inputs[0]->shape.size();
  int64_t start = getInt(e.node, "start", 0), end = getInt(e.node, "end", rank);
  start = std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  end = std::clamp<int64_t>(end < 0 ? end + rank : end, start, rank);
  return e.produce(ConstantTensor::ofInts(ArrayRef(e.inputs[0]->shape).slice(start, end - start)));
}

bool xlc::onnx::evaluateSize(Evaluation &e) {
  ConstantTensor result(ElementType::Int64, {});
  result.ints[0] = countElements(e.inputs[0]->shape);
  return e.produce(std::move(result));
}

/// The places of elements that are not zero, one column each.
bool xlc::onnx::evaluateNonZero(Evaluation &e) {
  const ConstantTensor from = e.inputs[0]->materialized();
  std::vector<size_t> places;
  for (size_t i = 0; i < from.numStored(); ++i)
    if (from.asDouble(i) != 0)
      places.push_back(i);
  int64_t rank = (int64_t)from.shape.size(), count = (int64_t)places.size();
  ConstantTensor result(ElementType::Int64, {rank, count});
  for (int64_t k = 0; k < count; ++k) {
    int64_t rest = (int64_t)places[k];
    for (int64_t d = rank - 1; d >= 0; rest /= from.shape[d--])
      result.ints[d * count + k] = rest % from.shape[d];
  }
  return e.produce(std::move(result));
}
