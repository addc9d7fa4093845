// The interface of a node for rules, and the few ops that most of them build with. See Importer.h.
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
    fail("has input " + Twine(i) + " of element type " + Twine((int)constant(i)->type) +
         ", which is not supported for this operator");
  return value;
}

bool NodeImport::broadcastPair(size_t a, size_t b, Value &x, Value &y) {
  Shape common;
  if (!broadcastShapes(shape(a), shape(b), common))
    return fail("has inputs whose shapes do not broadcast");
  if (elementType(a) != elementType(b))
    return fail("has inputs that differ in element type");
  x = broadcast(a, common);
  y = broadcast(b, common);
  return x && y;
}
