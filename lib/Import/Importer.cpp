// Walks the nodes of a file: evaluates nodes with known inputs, imports the rest. See Importer.h.
#include "Importer.h"

#include "xlc/Dialect/Graph/Stops.h"
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
    if (!op->hasTrait<graph::Movement>() && !isa<graph::CastOp, graph::PadOp>(op))
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

bool xlc::onnx::checkOperators(const Model &model, FileDiagnostics &diagnostics) {
  std::string list;
  int count = 0;
  for (const Node &node : model.nodes)
    if (node.guard < 0 && !findOperator(node)) { // a branch may not run at all
      list += (count++ ? ", " : "") + node.describe();
      if (!node.domain.empty())
        list += " of domain '" + node.domain + "'";
    }
  if (count)
    diagnostics.error(Twine(count) + (count == 1 ? " node has" : " nodes have") +
                      " an operator that is not supported: " + list);
  llvm::StringSet<> explained;
  for (const Node &node : model.nodes)
    if (StringRef reason = node.guard < 0 ? findReasonLeftOut(node.op) : "";
        !findOperator(node) && node.domain.empty() && !reason.empty() && explained.insert(node.op).second)
      diagnostics.note(node.op + ": " + reason);
  return count == 0;
}

bool Importer::importNodes(ReadParameter readParameter) {
  guards.assign(model.guards.size(), std::nullopt);
  for (unsigned i = 0; i < model.nodes.size(); ++i)
    if (runs(model.nodes[i].guard))
      importNode(i, readParameter);
  stops.warn();
  return checkOutputs();
}

/// Whether the condition of a branch, and those around it, hold. An unknown one: no; the `If` itself complains.
bool Importer::runs(int guard) {
  if (guard < 0)
    return true;
  if (!guards[guard]) {
    const Guard &at = model.guards[guard];
    const ConstantTensor *condition = values[at.condition].constant.get();
    guards[guard] = runs(at.outer) && condition && condition->numStored() == 1 && !isFloat(condition->type) &&
                    (condition->ints[0] != 0) == at.wanted;
  }
  return *guards[guard];
}

bool Importer::complain(const Node &node, const Twine &problem) {
  diagnostics.error(node.describe() + " " + problem);
  return false;
}

void Importer::importNode(unsigned index, ReadParameter readParameter) {
  const Node &node = model.nodes[index];
  SmallVector<ImportedValue> held(node.inputs.size());
  SmallVector<ImportedValue *> inputs;
  for (unsigned i = 0; i < node.inputs.size(); ++i) {
    auto use = plan.uses.find({index, i});
    if (use != plan.uses.end())
      held[i] = holdValue(readParameter(use->second)), inputs.push_back(&held[i]);
    else
      inputs.push_back(node.hasInput(i) ? &values[node.inputs[i]] : nullptr);
  }
  stopGradients(index, held, inputs, readParameter);
  hideRows(node, held, inputs);
  auto bias = plan.vanishedBiases.find(index);
  Value vanished = bias == plan.vanishedBiases.end() ? Value() : readParameter({bias->second, {}});
  Values outputs;
  if (!apply(node, inputs, vanished, outputs))
    return;
  guardRows(node, outputs);
  for (size_t i = 0; i < node.outputs.size() && i < outputs.size(); ++i)
    if (!node.outputs[i].empty())
      values[node.outputs[i]] = outputs[i];
}

/// What flows back into an input of a node, as far as the nodes before it are imported.
Flow Importer::findFlow(unsigned index, unsigned input, ReadParameter readParameter) {
  const Node &node = model.nodes[index];
  auto use = plan.uses.find({index, input});
  auto known = values.find(node.inputs[input]);
  if (use == plan.uses.end() && known == values.end())
    return Flow::None;
  Value value = use != plan.uses.end() ? readParameter(use->second) : known->second.value;
  return value && active.contains(value) ? Flow::Gradient : Flow::None;
}

void Importer::stopGradients(unsigned index, MutableArrayRef<ImportedValue> held,
                             MutableArrayRef<ImportedValue *> inputs, ReadParameter readParameter) {
  auto flow = [&](unsigned node, unsigned input) { return findFlow(node, input, readParameter); };
  const Node &node = model.nodes[index];
  for (unsigned i : stops.findStopped(index, flow)) {
    if (!inputs[i] || !inputs[i]->value)
      continue;
    Value value = inputs[i]->value;
    Location loc = NameLoc::get(builder.getStringAttr(node.name));
    held[i].value = graph::StopGradientOp::create(builder, loc, value.getType(), value);
    inputs[i] = &held[i];
  }
}

void Importer::hideRows(const Node &node, MutableArrayRef<ImportedValue> held,
                        MutableArrayRef<ImportedValue *> inputs) {
  for (unsigned i = 0; i < inputs.size(); ++i)
    if (inputs[i] && inputs[i]->constant)
      if (std::shared_ptr<const ConstantTensor> hidden = rows.hide(node, node.inputs[i], *inputs[i]->constant))
        held[i].constant = hidden, inputs[i] = &held[i];
}

void Importer::guardRows(const Node &node, Values &outputs) {
  if (!rows.needsGuard(node) || !outputs[0].value)
    return;
  graph::Formula f(builder, NameLoc::get(builder.getStringAttr(node.name)), graph::Spelling::AsModels);
  Value p = outputs[0].value,
        isNan = graph::IsNanOp::create(builder, f.loc, graph::typeOf(p).clone(builder.getI1Type()), p);
  outputs[0].value = f.select(isNan, f.number(0, p), p);
}

/// What is wrong with the attributes and results of a node, whatever its inputs are; empty if nothing is.
static std::string findMisfit(const Node &node, const Operator &op) {
  if (!node.misfit.empty() || node.outputs.empty())
    return node.misfit.empty() ? "has no outputs" : node.misfit;
  if ((int)node.outputs.size() > op.maxOutputs)
    return "has " + std::to_string(node.outputs.size()) + " outputs, but at most " + std::to_string(op.maxOutputs) +
           " are supported";
  SmallVector<StringRef> names;
  StringRef(op.attributes).split(names, ' ', -1, /*KeepEmpty=*/false);
  StringSet<> known;
  for (StringRef name : names) {
    bool isNeeded = name.consume_front("!");
    if (isNeeded && !node.attributes.count(name))
      return "needs attribute '" + name.str() + "'";
    known.insert(name);
  }
  for (const auto &attribute : node.attributes)
    if (!known.contains(attribute.first()))
      return "has attribute '" + attribute.first().str() + "', which is not an attribute of " + node.op;
  return "";
}

/// What the file says of its outputs must be what they are; of sizes, exporters say those of the example.
bool Importer::checkOutputs() {
  for (auto [name, declared] : llvm::zip(model.outputs, model.outputTypes)) {
    Value value = values[name].value;
    if (!value || declared.elementType == 0)
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    bool isFloat = isHalf(declared.elementType) || declared.elementType == (int)ElementType::Float ||
                   declared.elementType == (int)ElementType::Double;
    if (isFloat != isa<FloatType>(type.getElementType())) {
      std::string computed;
      llvm::raw_string_ostream(computed) << type.getElementType();
      diagnostics.error("output '" + name + "' is declared with element type " + nameOfType(declared.elementType) +
                        ", but is computed as " + computed);
    } else if (declared.rank >= 0 && declared.rank != type.getRank())
      diagnostics.error("output '" + name + "' is declared with " + Twine(declared.rank) + " dimensions, but has " +
                        Twine(type.getRank()));
  }
  return !diagnostics.hasErrors();
}

bool Importer::apply(const Node &node, ArrayRef<ImportedValue *> inputs, Value bias, Values &outputs) {
  const Operator *op = findOperator(node);
  if (!op)
    return complain(node, "has an operator that is not supported");
  int given = (int)inputs.size();
  if (given > op->maxInputs)
    return complain(node, "has " + Twine(given) + " inputs, but at most " + Twine(op->maxInputs) + " are supported");
  if (std::string misfit = findMisfit(node, *op); !misfit.empty())
    return complain(node, misfit);
  if (op->structure)
    return arrange(node, *op, inputs, outputs);
  bool isSequence = false, allKnown = true, allConstant = true;
  for (ImportedValue *input : inputs) {
    allKnown &= !input || input->isKnown();
    allConstant &= !input || input->constant;
    isSequence |= input && input->sequence;
  }
  if (!allKnown)
    return false;                      // its cause has been reported
  bool needsAll = op->maxInputs > 100; // one of any number of inputs cannot be left out
  for (int i = 0; i < (needsAll ? std::max(given, op->minInputs) : op->minInputs); ++i)
    if (i >= given || !inputs[i])
      return complain(node, "needs input " + Twine(i));
  if (isSequence)
    return complain(node, "takes tensors, but one of its inputs is a sequence of tensors");
  bool isSmall = !op->import || !allConstant || !unfolds(node, inputs);
  if (op->evaluate && isSmall && (allConstant || node.op == "Shape" || node.op == "Size"))
    return evaluate(node, *op, inputs, outputs);
  if (op->import)
    return import(node, *op, inputs, bias, outputs);
  return complain(node, "needs inputs that are known when the model is compiled");
}

bool Importer::arrange(const Node &node, const Operator &op, ArrayRef<ImportedValue *> inputs, Values &outputs) {
  for (int i = 0; i < op.minInputs; ++i)
    if (i >= (int)inputs.size() || !inputs[i])
      return complain(node, "needs input " + Twine(i));
    else if (!inputs[i]->isKnown())
      return false; // its cause has been reported
  auto applyNode = [&](const Node &other, ArrayRef<ImportedValue *> operands, Values &results) {
    return apply(other, operands, {}, results);
  };
  StructureImport state(node, inputs, applyNode);
  bool isDone = op.structure(state);
  if (!state.problem.empty())
    return complain(node, state.problem);
  outputs = std::move(state.outputs);
  return isDone;
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
    for (auto [size, stored] : llvm::zip(tensor.shape, tensor.stored)) // the same numbers along rows, or along columns
      out << size << "/" << stored << ",";
    out << "]";
    for (size_t i = 0; i < tensor.numStored(); ++i)
      out << (isFloat(tensor.type) ? llvm::bit_cast<int64_t>(tensor.floats[i]) : tensor.ints[i]) << ",";
  }
  return key;
}

bool Importer::evaluate(const Node &node, const Operator &op, ArrayRef<ImportedValue *> inputs, Values &outputs) {
  Evaluation evaluation{node, node.opset, {}, {}, {}, builder.getContext()};
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
        return complain(node, evaluation.problem);
    } catch (const TooManyElements &) {
      if (op.evaluate == evaluateByImport)
        return import(node, op, inputs, {}, outputs);
      return complain(node, "produces a constant of more than " + Twine(maximumStored) + " elements");
    }
    for (ConstantTensor &output : evaluation.outputs) {
      evaluatedElements += (int64_t)output.numStored();
      results.push_back(std::make_shared<const ConstantTensor>(std::move(output)));
    }
    if (evaluatedElements > 2 * maximumStored)
      return complain(node,
                      "increases the constants of the model to more than " + Twine(2 * maximumStored) + " elements");
    if (!key.empty())
      evaluated[key] = results;
  }
  for (auto &result : results)
    outputs.emplace_back().constant = result;
  return true;
}
