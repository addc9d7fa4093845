// See Formula.h.
#include "Formula.h"

#include <limits>

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

Value Formula::reduce(graph::Reduction kind, Value x, Sizes axes, bool keeps) {
  SmallVector<int64_t> kept(typeOf(x).getShape()), dropped;
  for (int64_t d = 0; d < rankOf(x); ++d)
    if (llvm::is_contained(axes, d))
      kept[d] = 1;
    else
      dropped.push_back(kept[d]);
  Value y = axes.empty() ? x : graph::ReduceOp::create(n.builder, n.loc, typeOf(x).clone(dropped), kind, x, axes);
  return keeps ? n.reshape(y, kept) : y;
}

Value Formula::reduceAlong(graph::Reduction kind, Value x, Sizes axes) {
  return n.broadcast(reduce(kind, x, axes, /*keeps=*/true), typeOf(x).getShape());
}

Value Formula::gather(Value table, Value indices, int64_t axis) {
  SmallVector<int64_t> shape(typeOf(table).getShape().take_front(axis));
  llvm::append_range(shape, typeOf(indices).getShape());
  llvm::append_range(shape, typeOf(table).getShape().drop_front(axis + 1));
  return graph::GatherOp::create(n.builder, n.loc, typeOf(table).clone(shape), table, indices, axis);
}

Value Formula::slice(Value x, Sizes offsets, Sizes sizes) {
  return graph::SliceOp::create(n.builder, n.loc, typeOf(x).clone(sizes), x, offsets,
                                SmallVector<int64_t>(sizes.size(), 1));
}

Value Formula::integers(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({(int64_t)values.size()}, n.builder.getI64Type());
  return graph::ConstantOp::create(n.builder, n.loc, type, DenseElementsAttr::get(type, values));
}

Value Formula::expMinusOne(Value x) {
  Value t = tanh(mul(x, 0.5));
  return div(mul(t, 2), sub(number(1, x), t));
}

Value Formula::softplus(Value x) {
  Value below = select(isAbove(x, 0), neg(x), x); // -|x|, whose slope at 0 is that of x: the sum's is 1/2
  return add(max(x, 0), log(add(exp(below), 1)));
}

Value Formula::safeSqrt(Value x) {
  Value isZero = isEqual(x, 0);
  return select(isZero, number(0, x), sqrt(select(isZero, number(1, x), x)));
}

Value Formula::logSumExp(Value x, Sizes axes, bool keeps) {
  Value largest = max(reduce(graph::Reduction::max, x, axes, true), -std::numeric_limits<float>::max());
  Value power = exp(sub(x, n.broadcast(largest, typeOf(x).getShape())));
  Value result = add(log(sum(power, axes, true)), largest);
  if (keeps)
    return result;
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < rankOf(x); ++d)
    if (!llvm::is_contained(axes, d))
      shape.push_back(typeOf(x).getDimSize(d));
  return n.reshape(result, shape);
}

bool xlc::onnx::readInts(NodeImport &n, size_t i, StringRef name, std::optional<Shape> &result) {
  result = getInts(n.node, name);
  if (!n.has(i))
    return true;
  if (!n.constant(i))
    return n.fail("needs " + name + " that are known when the model is compiled");
  ConstantTensor tensor = n.constant(i)->materialized();
  result = Shape(tensor.ints.begin(), tensor.ints.end());
  return true;
}

bool xlc::onnx::readAxes(NodeImport &n, size_t i, Shape &axes) {
  std::optional<Shape> given;
  if (!readInts(n, i, "axes", given))
    return false;
  int64_t rank = (int64_t)n.shape(0).size();
  axes = given.value_or(Shape());
  if (std::string problem = normalizeAxes(axes, rank); !problem.empty())
    return n.fail(problem);
  if (axes.empty() && !getInt(n.node, "noop_with_empty_axes", 0))
    for (int64_t d = 0; d < rank; ++d)
      axes.push_back(d);
  return true;
}

bool xlc::onnx::readAxis(NodeImport &n, int64_t otherwise, int64_t &axis) {
  axis = getInt(n.node, "axis", otherwise);
  std::string problem = normalizeAxis(axis, (int64_t)n.shape(0).size());
  return problem.empty() || n.fail(problem);
}

Value xlc::onnx::readFloats(NodeImport &n, size_t i) {
  if (!isa_and_nonnull<FloatType>(n.elementType(i)))
    return n.fail("needs a float input"), Value();
  return n.value(i);
}

Value xlc::onnx::readInputIndices(NodeImport &n, size_t i) {
  bool mayBe = !n.constant(i) && isa_and_nonnull<IntegerType>(n.elementType(i)) && !n.elementType(i).isInteger(1);
  return mayBe && findIndexedInput(n.value(i)) ? n.value(i) : Value();
}

Value xlc::onnx::readIndices(NodeImport &n, size_t i, int64_t size) {
  Type element = n.elementType(i);
  if (!isa_and_nonnull<IntegerType>(element) || element.isInteger(1))
    return n.fail("needs integer indices"), Value();
  if (const ConstantTensor *constant = n.constant(i)) {
    ConstantTensor wrapped = *constant;
    for (int64_t &index : wrapped.ints) {
      index += index < 0 ? size : 0;
      if (index < 0 || index >= size)
        return n.fail("index " + Twine(index) + " is outside a dimension of " + Twine(size)), Value();
    }
    return materialize(wrapped, wrapped.shape, n.builder, n.loc);
  }
  Formula f{n};
  Value x = n.value(i);
  x = f.select(f.isLess(x, 0), f.add(x, (double)size), x);
  return f.min(f.max(x, 0), (double)(size - 1));
}
