// See Formula.h.
#include "xlc/Dialect/Graph/Formula.h"

using namespace mlir;
using namespace xlc::graph;

Value Formula::number(double value, Value like) {
  RankedTensorType type = typeOf(like);
  Attribute attribute = isa<FloatType>(type.getElementType())
                            ? Attribute(b.getFloatAttr(type.getElementType(), value))
                            : Attribute(b.getIntegerAttr(type.getElementType(), (int64_t)value));
  return ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, attribute));
}

Value Formula::alongRows(Value x, Value like) {
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape.push_back(1);
  return broadcast(reshape(x, shape), like);
}

Value Formula::reduceRows(Reduction kind, Value x) {
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  return ReduceOp::create(b, loc, typeOf(x).clone(shape.drop_back()), kind, x, {(int64_t)shape.size() - 1});
}

Value Formula::reduceAll(Reduction kind, Value x) {
  SmallVector<int64_t> dimensions = llvm::to_vector(llvm::seq<int64_t>(typeOf(x).getRank()));
  return ReduceOp::create(b, loc, typeOf(x).clone(ArrayRef<int64_t>{}), kind, x, dimensions);
}
