// How PyTorch called what a node reads: the evidence that exporters leave, best first.
//
//   new exporter   the signature lists every parameter; a node's scope says which module it belongs to,
//                  the operand which parameter of it: MatMul(x, val_152) in layers.0.q_proj -> layers.0.q_proj.weight
//   old exporter   initializers keep their names, merged ones on an Identity; a transposed weight lost its name, and
//                  the node's path gives it back: /layers/0/q_proj/MatMul
//   none           operator, number, operand: Gemm_2.bias. Stable, and patterns such as "*.bias" still work
#include "ParameterNames.h"

#include "ConstantTensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

/// What PyTorch's modules call the operand of an operator.
struct OperandName {
  StringLiteral op;
  unsigned input;
  StringLiteral name;
};
constexpr OperandName operandNames[] = {
    {"Add", 0, "bias"},
    {"Add", 1, "bias"},
    {"BatchNormalization", 1, "weight"},
    {"BatchNormalization", 2, "bias"},
    {"Conv", 1, "weight"},
    {"Conv", 2, "bias"},
    {"ConvTranspose", 1, "weight"},
    {"ConvTranspose", 2, "bias"},
    {"Gather", 0, "weight"},
    {"Gemm", 1, "weight"},
    {"Gemm", 2, "bias"},
    {"GroupNormalization", 1, "weight"},
    {"GroupNormalization", 2, "bias"},
    {"InstanceNormalization", 1, "weight"},
    {"InstanceNormalization", 2, "bias"},
    {"LayerNormalization", 1, "weight"},
    {"LayerNormalization", 2, "bias"},
    {"MatMul", 0, "weight"},
    {"MatMul", 1, "weight"},
    {"Mul", 0, "weight"},
    {"Mul", 1, "weight"},
    {"PRelu", 1, "weight"},
    {"RMSNormalization", 1, "weight"},
    {"Sub", 1, "bias"},
    {"Transpose", 0, "weight"},
};

StringRef nameOperand(const Node &node, unsigned input) {
  for (const OperandName &row : operandNames)
    if (row.op == node.op && row.input == input)
      return row.name;
  return "";
}

/// "val_152", "onnx::MatMul_1218", "1218": names that exporters give to what has none.
bool isMadeUp(StringRef name) {
  StringRef number = name;
  return name.contains("::") || name.starts_with("/") || llvm::all_of(name, isDigit) ||
         (number.consume_front("val_") && llvm::all_of(number, isDigit));
}

/// Running averages are no parameters, whatever they are called.
bool isStatistic(const Node &node, unsigned input) { return node.op == "BatchNormalization" && input >= 3; }

/// Operands from this one on say how the operator works: no parameters either.
struct Setting {
  StringLiteral op;
  unsigned input;
};
constexpr Setting settings[] = {{"Clip", 1}, {"OneHot", 1}, {"Pad", 1}, {"Resize", 1}};

bool isSetting(const Node &node, unsigned input) {
  return llvm::any_of(settings, [&](const Setting &row) { return row.op == node.op && input >= row.input; });
}

/// Whether the operand is data: the operator's parameters are others.
bool isData(const Node &node, unsigned input) {
  return nameOperand(node, input).empty() &&
         llvm::any_of(operandNames, [&](const OperandName &row) { return row.op == node.op; });
}

} // namespace

std::string xlc::onnx::joinName(StringRef module, StringRef name) {
  return module.empty() ? name.str() : (module + "." + name).str();
}

std::pair<StringRef, StringRef> xlc::onnx::splitName(StringRef name) {
  size_t dot = name.rfind('.');
  return dot == StringRef::npos ? std::make_pair(StringRef(), name)
                                : std::make_pair(name.take_front(dot), name.drop_front(dot + 1));
}

bool xlc::onnx::areSiblings(StringRef a, StringRef b) {
  SmallVector<StringRef> left, right;
  a.split(left, '.'), b.split(right, '.');
  return a != b && left.size() == right.size() && llvm::all_of(llvm::zip(left, right), [](auto parts) {
           auto [one, other] = parts;
           return one == other || (llvm::all_of(one, isDigit) && llvm::all_of(other, isDigit));
         });
}

ParameterNames::ParameterNames(const Model &model) : model(model), numbers(model.nodes.size(), 0) {
  for (auto [i, tensor] : llvm::enumerate(model.initializers))
    initializers[tensor.name] = (unsigned)i;
  for (auto [i, name] : llvm::enumerate(model.signature.parameters)) {
    order.try_emplace(name, (unsigned)i);
    inModule[splitName(name).first].push_back(name);
  }
  buffers.insert_range(model.signature.buffers);
  followAliases();
}

/// Finds who uses the Identity of an initializer, and numbers the nodes that read initializers.
void ParameterNames::followAliases() {
  StringMap<unsigned> counts;
  StringMap<std::string> origin; // alias -> the alias it is an Identity of
  for (auto [n, node] : llvm::enumerate(model.nodes)) {
    bool reads = false;
    for (auto [i, input] : llvm::enumerate(node.inputs)) {
      bool isAlias = origin.contains(input), isInitializer = initializers.contains(input);
      reads |= isAlias || isInitializer;
      if (node.op == "Identity" && i == 0 && (isAlias || isInitializer) && !node.outputs.empty())
        origin[node.outputs[0]] = isAlias ? input : "";
      else
        for (std::string at = isAlias ? input : ""; !at.empty() && aliasReaders.try_emplace(at, n, i).second;)
          at = origin.lookup(at);
    }
    if (reads)
      numbers[n] = counts[node.op]++;
  }
}

unsigned ParameterNames::rank(StringRef name) const {
  auto it = order.find(name);
  return it == order.end() ? UINT_MAX : it->second;
}

bool ParameterNames::isOwnName(StringRef name) const { return hasSignature() ? order.contains(name) : !isMadeUp(name); }

std::vector<std::vector<Read>> ParameterNames::findReads() const {
  std::vector<std::vector<Read>> reads(model.initializers.size());
  for (unsigned n = 0; n < model.nodes.size(); ++n)
    for (unsigned i = 0; i < model.nodes[n].inputs.size(); ++i)
      if (auto found = initializers.find(model.nodes[n].inputs[i]); found != initializers.end())
        reads[found->second].push_back(describe(n, i, model.initializers[found->second]));
  return reads;
}

Read ParameterNames::describe(unsigned n, unsigned input, const FileTensor &tensor) const {
  const Node &node = model.nodes[n];
  Read read;
  read.node = n, read.input = input, read.position = n;
  read.isPassive = node.op == "Shape" || node.op == "Size" || isSetting(node, input);
  if (!isFloat(tensor.type) || tensor.shape.empty() || buffers.contains(tensor.name) || isStatistic(node, input))
    return read;
  read.isNamed = true;
  if (hasSignature() || read.isPassive) {
    read.name = read.isPassive ? tensor.name : findListed(node, input, tensor);
    return read;
  }
  unsigned user = n, operand = input;
  read.isAlias = node.op == "Identity" && !node.outputs.empty();
  if (read.isAlias)
    if (auto reader = aliasReaders.find(node.outputs[0]); reader != aliasReaders.end())
      std::tie(user, operand) = reader->second;
  read.position = user;
  StringRef own = read.isAlias ? StringRef(node.outputs[0]) : StringRef(tensor.name);
  read.isSibling = read.isAlias && isOwnName(own) && isOwnName(tensor.name) && own != tensor.name &&
                   splitName(own).second == splitName(tensor.name).second;
  bool isOwn = isOwnName(own) && (!read.isAlias || own.contains('.'));
  read.place = compose(user, operand);
  read.name = isOwn ? own.str() : read.place;
  read.isNamed = isOwn || !model.nodes[user].scope.empty();
  return read;
}

/// The parameter of the node's module that this operand must be: the initializer's own name if it belongs there, else
/// one the file has lost, by the operand's usual name or the initializer's last part.
std::string ParameterNames::findListed(const Node &node, unsigned input, const FileTensor &tensor) const {
  bool isListed = order.contains(tensor.name);
  std::string otherwise = isListed ? tensor.name : "";
  auto module = inModule.find(node.scope);
  if (module == inModule.end() || isData(node, input) || (!isListed && tensor.numElements() <= 1))
    return otherwise;
  auto [home, leaf] = splitName(tensor.name);
  if (isListed && home == node.scope)
    return tensor.name;
  for (StringRef part : {nameOperand(node, input), leaf})
    if (std::string name = joinName(node.scope, part);
        order.contains(name) && (!initializers.contains(name) || isTransposeOf(tensor, name)))
      return name;
  const std::string &only = module->second.front();
  return module->second.size() == 1 && !initializers.contains(only) ? only : otherwise;
}

bool ParameterNames::isTransposeOf(const FileTensor &tensor, StringRef name) const {
  auto found = initializers.find(name);
  if (found == initializers.end() || tensor.shape.size() != 2)
    return false;
  ArrayRef<int64_t> shape = model.initializers[found->second].shape;
  return shape.size() == 2 && shape[0] == tensor.shape[1] && shape[1] == tensor.shape[0];
}

std::string ParameterNames::compose(unsigned n, unsigned input) const {
  const Node &node = model.nodes[n];
  StringRef operand = nameOperand(node, input);
  std::string leaf = operand.empty() ? "input" + std::to_string(input) : operand.str();
  if (!node.scope.empty())
    return joinName(node.scope, leaf);
  return node.op + "_" + std::to_string(numbers[n]) + "." + leaf;
}
