// Evaluation rules that convert, select, count and filter elements.
#include "Evaluate.h"

#include <cmath>

using namespace llvm;
using namespace xlc::onnx;

bool xlc::onnx::evaluateNot(Evaluation &e) {
  ConstantTensor result = *e.inputs[0];
  if (result.type != ElementType::Bool)
    return e.fail("needs a boolean input");
  for (int64_t &value : result.ints)
    value = !value;
  return e.produce(std::move(result));
}

bool xlc::onnx::evaluateIsNaN(Evaluation &e) {
  ConstantTensor result(ElementType::Bool, e.inputs[0]->shape, e.inputs[0]->stored);
  for (size_t i = 0; i < e.inputs[0]->floats.size(); ++i)
    result.ints[i] = std::isnan(e.inputs[0]->floats[i]);
  return e.produce(std::move(result));
}

bool xlc::onnx::evaluateCast(Evaluation &e) {
  int64_t to = getInt(e.node, "to", 0);
  if (!byteWidth((int)to))
    return e.fail("casts to element type " + Twine(to) + ", which is not supported");
  const ConstantTensor &from = *e.inputs[0];
  ConstantTensor result((ElementType)to, from.shape, from.stored);
  for (size_t i = 0; i < from.numStored(); ++i) {
    double value = from.asDouble(i);
    if (result.type == ElementType::Bool)
      result.ints[i] = value != 0;
    else if (!isFloat(result.type) && !isFloat(from.type))
      result.ints[i] = from.ints[i];
    else if (isFloat(result.type))
      result.set(i, value);
    else
      result.ints[i] = std::isnan(value) ? 0 : (int64_t)std::clamp(value, -9.2e18, 9.2e18);
  }
  return produceRounded(e, std::move(result));
}

bool xlc::onnx::evaluateWhere(Evaluation &e) {
  const ConstantTensor &condition = *e.inputs[0], &a = *e.inputs[1], &b = *e.inputs[2];
  Shape shape, stored, pair, pairStored;
  if (condition.type != ElementType::Bool || a.type != b.type)
    return e.fail("needs a boolean condition and two values of one type");
  if (!broadcastShapes(a.shape, b.shape, pair) || !broadcastShapes(pair, condition.shape, shape) ||
      !broadcastShapes(a.stored, b.stored, pairStored) || !broadcastShapes(pairStored, condition.stored, stored))
    return e.fail("has inputs whose shapes do not broadcast");
  ConstantTensor result(a.type, shape, stored);
  ConstantTensor wideC = condition.broadcastTo(shape), wideA = a.broadcastTo(shape), wideB = b.broadcastTo(shape);
  size_t i = 0;
  walk(stored, {getStrides(wideC.stored), getStrides(wideA.stored), getStrides(wideB.stored)},
       [&](ArrayRef<int64_t> offset) {
         bool takesA = wideC.ints[offset[0]];
         if (isFloat(a.type))
           result.floats[i++] = takesA ? wideA.floats[offset[1]] : wideB.floats[offset[2]];
         else
           result.ints[i++] = takesA ? wideA.ints[offset[1]] : wideB.ints[offset[2]];
       });
  return e.produce(std::move(result));
}

bool xlc::onnx::evaluateRange(Evaluation &e) {
  for (int i = 0; i < 3; ++i)
    if (!e.inputs[i]->isSplat() || e.inputs[i]->type != e.inputs[0]->type)
      return e.fail("needs three scalars of one type");
  double start = e.inputs[0]->asDouble(0), limit = e.inputs[1]->asDouble(0), delta = e.inputs[2]->asDouble(0);
  double count = delta == 0 ? NAN : std::ceil((limit - start) / delta);
  if (!(count <= (double)maximumStored))
    return e.fail("produces too many elements: from " + std::to_string(start) + " to " + std::to_string(limit) +
                  " in steps of " + std::to_string(delta));
  ConstantTensor result(e.inputs[0]->type, {(int64_t)std::max(0.0, count)});
  for (size_t i = 0; i < result.numStored(); ++i)
    result.set(i, start + (double)i * delta);
  return e.produce(std::move(result));
}

bool xlc::onnx::evaluateTrilu(Evaluation &e) {
  ConstantTensor result = e.inputs[0]->materialized();
  size_t rank = result.shape.size();
  if (rank < 2)
    return e.fail("needs an input of rank 2 or more");
  int64_t k = e.hasInput(1) && e.inputs[1]->isSplat() ? (int64_t)e.inputs[1]->asDouble(0) : 0;
  bool upper = getInt(e.node, "upper", 1);
  int64_t rows = result.shape[rank - 2], columns = result.shape[rank - 1];
  for (size_t i = 0; i < result.numStored(); ++i) {
    int64_t row = (int64_t)i / columns % rows, column = (int64_t)i % columns;
    if (upper ? column - row < k : column - row > k)
      isFloat(result.type) ? (void)(result.floats[i] = 0) : (void)(result.ints[i] = 0);
  }
  return e.produce(std::move(result));
}
