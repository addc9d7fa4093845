// Walks the nodes of a file: evaluates what is known, imports the rest. See Importer.h.
#include "Importer.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

Type xlc::onnx::convertType(ElementType type, MLIRContext *context) {
  switch (type) {
  case ElementType::Float:
    return Float32Type::get(context);
  case ElementType::Double:
    return Float64Type::get(context);
  case ElementType::Int32:
    return IntegerType::get(context, 32);
  case ElementType::Int64:
    return IntegerType::get(context, 64);
  case ElementType::Bool:
    return IntegerType::get(context, 1);
  case ElementType::Uint8:
  case ElementType::Int8:
    return {};
  }
  return {};
}

SmallVector<int64_t> xlc::onnx::shapeOf(Value value) {
  return SmallVector<int64_t>(cast<RankedTensorType>(value.getType()).getShape());
}

BlockArgument xlc::onnx::findIndexedInput(Value indices) {
  while (Operation *op = indices.getDefiningOp()) {
    if (!isa<graph::ReshapeOp, graph::CastOp, graph::BroadcastOp, graph::SliceOp, graph::TransposeOp, graph::PadOp>(op))
      return {};
    indices = op->getOperand(0);
  }
  return cast<BlockArgument>(indices);
}

static DenseElementsAttr toAttribute(const ConstantTensor &constant, RankedTensorType type) {
  switch (constant.type) {
  case ElementType::Float: {
    SmallVector<float> values(constant.floats.begin(), constant.floats.end());
    return DenseElementsAttr::get(type, ArrayRef<float>(values));
  }
  case ElementType::Double:
    return DenseElementsAttr::get(type, ArrayRef<double>(constant.floats));
  case ElementType::Int32: {
    SmallVector<int32_t> values(constant.ints.begin(), constant.ints.end());
    return DenseElementsAttr::get(type, ArrayRef<int32_t>(values));
  }
  case ElementType::Bool: {
    SmallVector<bool> values(constant.ints.begin(), constant.ints.end());
    return DenseElementsAttr::get(type, ArrayRef<bool>(values));
  }
  default:
    return DenseElementsAttr::get(type, ArrayRef<int64_t>(constant.ints));
  }
}

Value xlc::onnx::materialize(const ConstantTensor &constant, ArrayRef<int64_t> shape, OpBuilder &builder,
                             Location loc) {
  Type elementType = convertType(constant.type, builder.getContext());
  if (!elementType)
    return {};
  // Leading ones say nothing; a splat is a scalar.
  ArrayRef<int64_t> stored = constant.stored;
  while (!stored.empty() && (stored.front() == 1 || constant.isSplat()))
    stored = stored.drop_front();
  auto type = RankedTensorType::get(stored, elementType);
  Value value = graph::ConstantOp::create(builder, loc, type, toAttribute(constant, type));
  if (stored == shape)
    return value;
  return graph::BroadcastOp::create(builder, loc, RankedTensorType::get(shape, elementType), value);
}

//===----------------------------------------------------------------------===//
// NodeImport
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Importer
//===----------------------------------------------------------------------===//

bool Importer::checkOperators() {
  std::string list;
  int count = 0;
  for (const Node &node : model.nodes)
    if (!findOperator(node)) {
      list += (count++ ? ", " : "") + node.describe();
      if (!node.domain.empty())
        list += " of domain '" + node.domain + "'";
    }
  if (count)
    diagnostics.error(Twine(count) + (count == 1 ? " node has" : " nodes have") +
                      " an operator that is not supported: " + list);
  llvm::StringSet<> explained;
  for (const Node &node : model.nodes)
    if (StringRef reason = findReasonLeftOut(node.op);
        !findOperator(node) && node.domain.empty() && !reason.empty() && explained.insert(node.op).second)
      diagnostics.note(node.op + ": " + reason);
  return count == 0;
}

bool Importer::importNodes(ArrayRef<Value> parameters) {
  for (unsigned i = 0; i < model.nodes.size(); ++i)
    importNode(i, parameters);
  return !diagnostics.hasErrors();
}

void Importer::importNode(unsigned index, ArrayRef<Value> parameters) {
  const Node &node = model.nodes[index];
  const Operator &op = *findOperator(node);
  SmallVector<ImportedValue> held(node.inputs.size());
  SmallVector<ImportedValue *> inputs;
  bool allConstant = true, allKnown = true;
  for (unsigned i = 0; i < node.inputs.size(); ++i) {
    auto use = plan.uses.find({index, i});
    if (use != plan.uses.end())
      held[i].value = parameters[use->second], inputs.push_back(&held[i]);
    else
      inputs.push_back(node.hasInput(i) ? &values[node.inputs[i]] : nullptr);
    allKnown &= !inputs.back() || inputs.back()->isKnown();
    allConstant &= !inputs.back() || inputs.back()->constant;
  }
  if (!allKnown)
    return; // its cause has been reported
  int given = (int)inputs.size();
  for (int i = 0; i < op.minInputs; ++i)
    if (i >= given || !inputs[i])
      return diagnostics.error(node.describe() + " needs input " + Twine(i));
  if (given > op.maxInputs)
    return diagnostics.error(node.describe() + " has " + Twine(given) + " inputs, at most " + Twine(op.maxInputs) +
                             " are known");
  auto bias = plan.vanishedBiases.find(index);
  bool isSmall = !op.import || !allConstant || !unfolds(node, inputs);
  if (op.evaluate && isSmall && (allConstant || node.op == "Shape" || node.op == "Size"))
    evaluate(node, op, inputs);
  else if (op.import)
    import(index, op, inputs, bias == plan.vanishedBiases.end() ? Value() : parameters[bias->second]);
  else
    diagnostics.error(node.describe() + " needs inputs that are known when the model is compiled");
}

/// Whether evaluating a node would make a large constant of small ones, as an outer comparison or product does.
bool Importer::unfolds(const Node &node, ArrayRef<ImportedValue *> inputs) {
  Shape result;
  int64_t largest = 1;
  for (ImportedValue *input : inputs) {
    if (!input)
      continue;
    const ConstantTensor &tensor = *input->constant;
    Shape common;
    if (!broadcastShapes(result, node.op == "Trilu" ? tensor.shape : tensor.stored, common))
      return false;
    result = common;
    largest = std::max(largest, (int64_t)tensor.numStored());
  }
  int64_t elements = 1;
  for (int64_t size : result)
    if (llvm::MulOverflow(elements, size, elements))
      return true;
  return elements > maximumFolded && elements > largest;
}

std::string Importer::getKey(const Node &node, ArrayRef<ImportedValue *> inputs) {
  std::string key = node.op + "/" + std::to_string(node.outputs.size());
  llvm::raw_string_ostream out(key);
  SmallVector<StringRef> names(node.attributes.keys());
  llvm::sort(names);
  for (StringRef name : names) {
    const onnx::Attribute &attribute = node.attributes.find(name)->second;
    if (attribute.kind == onnx::Attribute::Kind::Tensor)
      return ""; // Constant: cheap, and equal values meet below
    out << "/" << name << "=" << attribute.i << "," << attribute.f << "," << attribute.s;
    for (int64_t value : attribute.ints)
      out << "," << value;
    for (double value : attribute.floats)
      out << "," << value;
  }
  for (ImportedValue *input : inputs) {
    out << "/";
    if (!input)
      continue;
    const ConstantTensor &tensor = *input->constant;
    if (tensor.numStored() > 16) {
      out << (const void *)&tensor; // results are shared, so equal big tensors are usually one
      continue;
    }
    out << (int)tensor.type << "[";
    for (int64_t size : tensor.shape)
      out << size << ",";
    out << "]";
    for (size_t i = 0; i < tensor.numStored(); ++i)
      out << (isFloat(tensor.type) ? llvm::bit_cast<int64_t>(tensor.floats[i]) : tensor.ints[i]) << ",";
  }
  return key;
}

void Importer::evaluate(const Node &node, const Operator &op, ArrayRef<ImportedValue *> inputs) {
  Evaluation evaluation{node, model.opset, {}, {}, {}, builder.getContext()};
  std::vector<ConstantTensor> shapesOnly(inputs.size());
  bool allConstant = true;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    const ConstantTensor *tensor = input ? input->constant.get() : nullptr;
    if (input && !tensor) { // Shape and Size ask for nothing but the shape
      shapesOnly[i] = ConstantTensor::ofFloat(0).broadcastTo(shapeOf(input->value));
      tensor = &shapesOnly[i];
      allConstant = false;
    }
    evaluation.inputs.push_back(tensor);
  }
  std::string key = allConstant ? getKey(node, inputs) : "";
  std::vector<std::shared_ptr<const ConstantTensor>> results;
  if (auto known = evaluated.find(key); !key.empty() && known != evaluated.end()) {
    results = known->second;
  } else {
    try {
      if (!op.evaluate(evaluation))
        return diagnostics.error(node.describe() + " " + evaluation.problem);
    } catch (const TooManyElements &) {
      return diagnostics.error(node.describe() + " makes a constant of more than " + Twine(maximumStored) +
                               " elements");
    }
    for (ConstantTensor &output : evaluation.outputs) {
      evaluatedElements += (int64_t)output.numStored();
      results.push_back(std::make_shared<const ConstantTensor>(std::move(output)));
    }
    if (evaluatedElements > 2 * maximumStored)
      return diagnostics.error(node.describe() + " makes the constants of the model exceed " +
                               Twine(2 * maximumStored) + " elements");
    if (!key.empty())
      evaluated[key] = results;
  }
  for (size_t i = 0; i < node.outputs.size() && i < results.size(); ++i)
    if (!node.outputs[i].empty())
      values[node.outputs[i]].constant = results[i];
}

void Importer::import(unsigned index, const Operator &op, ArrayRef<ImportedValue *> inputs, Value bias) {
  const Node &node = model.nodes[index];
  Location loc = NameLoc::get(builder.getStringAttr(node.name));
  NodeImport state(node, model.opset, builder, loc, inputs, bias);
  bool isDone = false;
  try {
    isDone = op.import(state);
  } catch (const TooManyElements &) {
    state.problem = "uses a constant of more than " + std::to_string(maximumStored) + " elements";
  }
  if (!isDone || !state.problem.empty())
    return diagnostics.error(node.describe() + " " + state.problem);
  for (Value output : state.outputs) {
    int64_t elements = 1;
    for (int64_t size : output ? shapeOf(output) : SmallVector<int64_t>())
      if (llvm::MulOverflow(elements, size, elements) || elements > (int64_t(1) << 44))
        return diagnostics.error(node.describe() + " makes a tensor of more than 2^44 elements");
  }
  for (size_t i = 0; i < node.outputs.size() && i < state.outputs.size(); ++i)
    if (!node.outputs[i].empty())
      values[node.outputs[i]].value = state.outputs[i];
}
