// See Formula.h.
#include "xlc/Dialect/Graph/Formula.h"

#include <limits>

using namespace mlir;
using namespace xlc::graph;

static DenseElementsAttr splat(OpBuilder &b, RankedTensorType type, double value) {
  Type element = type.getElementType();
  return DenseElementsAttr::get(type, isa<FloatType>(element) ? Attribute(b.getFloatAttr(element, value))
                                                              : Attribute(b.getIntegerAttr(element, (int64_t)value)));
}

Value Formula::scalar(double value, Type element) {
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(b, loc, type, splat(b, type, value));
}

Value Formula::number(double value, RankedTensorType type) {
  if (spelling == Spelling::AsModels)
    return broadcast(scalar(value, type.getElementType()), type.getShape());
  return ConstantOp::create(b, loc, type, splat(b, type, value));
}

Value Formula::transpose(Value x, Sizes permutation) {
  SmallVector<int64_t> shape;
  for (int64_t d : permutation)
    shape.push_back(typeOf(x).getDimSize(d));
  return TransposeOp::create(b, loc, typeOf(x).clone(shape), x, permutation);
}

Value Formula::slice(Value x, Sizes offsets, Sizes sizes) {
  return SliceOp::create(b, loc, typeOf(x).clone(sizes), x, offsets, SmallVector<int64_t>(sizes.size(), 1));
}

Value Formula::gather(Value table, Value indices, int64_t axis) {
  SmallVector<int64_t> shape(typeOf(table).getShape().take_front(axis));
  llvm::append_range(shape, typeOf(indices).getShape());
  llvm::append_range(shape, typeOf(table).getShape().drop_front(axis + 1));
  return GatherOp::create(b, loc, typeOf(table).clone(shape), table, indices, axis);
}

Value Formula::integers(Sizes values) {
  auto type = RankedTensorType::get({(int64_t)values.size()}, b.getI64Type());
  return ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, values));
}

Value Formula::contract(StringRef spec, Value x, Value y) {
  SmallVector<int64_t> shape;
  auto [left, result] = spec.split("->");
  auto [lettersX, lettersY] = left.split(',');
  for (char letter : result) {
    size_t at = lettersX.find(letter);
    shape.push_back(at != StringRef::npos ? typeOf(x).getDimSize(at) : typeOf(y).getDimSize(lettersY.find(letter)));
  }
  return ContractOp::create(b, loc, typeOf(x).clone(shape), spec, x, y);
}

Value Formula::reduce(Reduction kind, Value x, Sizes axes, bool keeps) {
  SmallVector<int64_t> kept(typeOf(x).getShape()), dropped;
  for (int64_t d = 0; d < rankOf(x); ++d)
    if (llvm::is_contained(axes, d))
      kept[d] = 1;
    else
      dropped.push_back(kept[d]);
  Value y = axes.empty() ? x : ReduceOp::create(b, loc, typeOf(x).clone(dropped), kind, x, axes);
  return keeps ? reshape(y, kept) : y;
}

Value Formula::reduceAll(Reduction kind, Value x) {
  SmallVector<int64_t> dimensions = llvm::to_vector(llvm::seq<int64_t>(rankOf(x)));
  return ReduceOp::create(b, loc, typeOf(x).clone(ArrayRef<int64_t>{}), kind, x, dimensions);
}

Value Formula::alongRows(Value x, Value like) {
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape.push_back(1);
  return broadcast(reshape(x, shape), like);
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
  Value largest = max(reduce(Reduction::max, x, axes, true), -std::numeric_limits<float>::max());
  Value power = exp(sub(x, broadcast(largest, x)));
  Value result = add(log(sum(power, axes, true)), largest);
  if (keeps)
    return result;
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < rankOf(x); ++d)
    if (!llvm::is_contained(axes, d))
      shape.push_back(typeOf(x).getDimSize(d));
  return reshape(result, shape);
}

void PartOf::adopt(Operation *op) const {
  for (StringRef name : {StringRef(kUnit), StringRef(kRole)})
    if (Attribute attribute = like->getAttr(name))
      op->setAttr(name, attribute);
}
