// What rules see of a node, and the few ops that most of them build with. See Importer.h.
#include "Importer.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

Shape NodeImport::shape(size_t i) const {
  if (const ConstantTensor *tensor = constant(i))
    return tensor->shape;
  SmallVector<int64_t> shape = shapeOf(inputs[i]->value);
  return Shape(shape.begin(), shape.end());
}

Type NodeImport::elementType(size_t i) const {
  if (const ConstantTensor *tensor = constant(i))
    return convertType(tensor->type, builder.getContext());
  return cast<RankedTensorType>(inputs[i]->value.getType()).getElementType();
}

Value NodeImport::value(size_t i) {
  ImportedValue &input = *inputs[i];
  if (input.value)
    return input.value;
  return broadcast(i, input.constant->shape);
}

Value NodeImport::broadcast(size_t i, ArrayRef<int64_t> shape) {
  if (!constant(i))
    return broadcast(inputs[i]->value, shape);
  Value value = materialize(*constant(i), shape, builder, loc);
  if (!value)
    fail("input " + Twine(i) + " has element type " + Twine((int)constant(i)->type) +
         ", which tensors of a model cannot have here");
  return value;
}

bool NodeImport::broadcastPair(size_t a, size_t b, Value &x, Value &y) {
  Shape common;
  if (!broadcastShapes(shape(a), shape(b), common))
    return fail("shapes do not broadcast");
  if (elementType(a) != elementType(b))
    return fail("inputs differ in element type");
  x = broadcast(a, common);
  y = broadcast(b, common);
  return x && y;
}

Value NodeImport::broadcast(Value x, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(x.getType());
  return type.getShape() == shape
             ? x
             : graph::BroadcastOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), x);
}

Value NodeImport::reshape(Value x, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(x.getType());
  return type.getShape() == shape
             ? x
             : graph::ReshapeOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), x);
}

Value NodeImport::transpose(Value x, ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> shape;
  for (int64_t d : permutation)
    shape.push_back(type.getDimSize(d));
  return graph::TransposeOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), x, permutation);
}

Value NodeImport::scalar(double value, Type elementType) {
  auto type = RankedTensorType::get({}, elementType);
  mlir::Attribute attribute;
  if (isa<FloatType>(elementType))
    attribute = builder.getFloatAttr(elementType, value);
  else
    attribute = builder.getIntegerAttr(elementType, (int64_t)value);
  return graph::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, attribute));
}

Value NodeImport::splat(double value, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  return broadcast(scalar(value, type.getElementType()), type.getShape());
}

Value NodeImport::contract(StringRef spec, Value a, Value b) {
  SmallVector<int64_t> shape;
  auto [left, result] = spec.split("->");
  auto [lettersA, lettersB] = left.split(',');
  for (char letter : result) {
    size_t at = lettersA.find(letter);
    shape.push_back(at != StringRef::npos ? shapeOf(a)[at] : shapeOf(b)[lettersB.find(letter)]);
  }
  Type type = RankedTensorType::get(shape, cast<RankedTensorType>(a.getType()).getElementType());
  return graph::ContractOp::create(builder, loc, type, spec, a, b);
}
