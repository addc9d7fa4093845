// See ReadInputs.h.
#include "ReadInputs.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

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

bool xlc::onnx::produceFormula(NodeImport &n, llvm::function_ref<Value(Formula, Value)> formula) {
  Value x = readFloats(n, 0);
  return x && n.produce(formula({n}, x));
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
        return n.fail("has index " + Twine(index) + " for a dimension of size " + Twine(size)), Value();
    }
    return materialize(wrapped, wrapped.shape, n.builder, n.loc);
  }
  Formula f{n};
  Value x = n.value(i);
  x = f.select(f.isLess(x, 0), f.add(x, (double)size), x);
  return f.min(f.max(x, 0), (double)(size - 1));
}
