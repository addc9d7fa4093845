// Finds the parameter of the signature's list that a node reads, by the best evidence first.
//
//   the call      the exporter's note beside the node names what PyTorch's op read (TracedParameters.cpp): certain
//   the name      parameters keep theirs in the file, but for what is transposed, split or merged
//   the module    MatMul(x, val_152) in layers.0.q_proj -> layers.0.q_proj.weight: of the names that its scope has in
//                 the list and that no initializer has, the one that the operand usually has
//
// Values that the exporter computed from parameters (`add_6` = 1 + w) are not parameters: only `val_N`, which are
// inside one op of PyTorch, and transpositions are taken for a parameter. Everything else remains a constant, and the
// parameter is reported as lost.
#include "ParameterNames.h"

#include "TensorValues.h"
#include "llvm/ADT/STLExtras.h"

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

} // namespace

StringRef xlc::onnx::nameOperand(const Node &node, unsigned input) {
  for (const OperandName &row : operandNames)
    if (row.op == node.op && row.input == input)
      return row.name;
  return "";
}

bool xlc::onnx::isData(const Node &node, unsigned input) {
  return nameOperand(node, input).empty() &&
         llvm::any_of(operandNames, [&](const OperandName &row) { return row.op == node.op; });
}

bool xlc::onnx::isSpreadVector(const Node &node, const FileTensor &tensor) {
  bool isElementwise = node.op == "Mul" || node.op == "Add" || node.op == "Sub" || node.op == "Div";
  return isElementwise && tensor.shape.size() > 1 &&
         llvm::count_if(tensor.shape, [](int64_t size) { return size != 1; }) == 1;
}

/// Finds the name of what operand `input` of `node` reads, if it is a parameter.
void ParameterNames::findListed(const Node &node, unsigned input, const FileTensor &tensor, Read &read) const {
  bool isListed = order.contains(tensor.name);
  if (isData(node, input)) {
    read.name = isListed ? tensor.name : "";
    read.isTraced = isListed && llvm::is_contained(traced.parametersOf(node.call), tensor.name);
  } else if (node.call.name.empty()) {
    findInModule(node, input, tensor, read);
  } else {
    findTraced(node, input, tensor, read);
  }
  read.isComputed = read.name.empty() && !isListed && tensor.numElements() > 1;
}

void ParameterNames::findTraced(const Node &node, unsigned input, const FileTensor &tensor, Read &read) const {
  const std::string &own = tensor.name;
  SmallVector<StringRef> names = traced.parametersOf(node.call);
  bool isListed = order.contains(own);
  read.isTraced = !names.empty();
  if (isListed && llvm::is_contained(names, own)) {
    read.name = own, read.tie = findTie(node, input, own);
    return;
  }
  if (names.empty()) {
    // A constant may have a parameter's value and be merged with it: then the call is given nothing that is gone, or
    // a constant. What was computed may have it, too: ones are their own reciprocals.
    std::string missing;
    Missing kind = traced.findMissing(node, input, missing);
    bool isUniform = isListed && findOneValue(tensor);
    if (isListed && (!isUniform || kind > Missing::Constant)) {
      read.name = own;
      read.merged = isUniform && kind == Missing::Computed ? missing : "";
    } else if (!isListed && isNamedAsTranspose(own) && node.op == "MatMul" && tensor.shape.size() == 2)
      findInModule(node, input, tensor, read);
    return;
  }
  std::optional<StringRef> role = traced.findByRole(node.call, nameOperand(node, input));
  bool isGroups = node.op == "InstanceNormalization" && StringRef(node.call.target).contains("group_norm");
  if (role)
    names = role->empty() || isGroups ? SmallVector<StringRef>() : SmallVector<StringRef>{*role};
  llvm::erase_if(names, [&](StringRef name) { return !mayBe(tensor, name); });
  // A lookup along the first dimension takes the table as it is.
  bool isLookup = StringRef(node.call.target).starts_with("aten.index.") && node.call.arguments.size() > 1 &&
                  StringRef(node.call.arguments[1]).starts_with("[%");
  if (names.size() == 1 && (role || isListed || isLookup)) {
    read.name = names.front().str();
    read.isVector = !isListed && !traced.keepsShapeOfWeight(node.call) && isSpreadVector(node, tensor);
  } else if (isListed && !isGroups && !findOneValue(tensor)) {
    read.name = own;
  }
}

/// The name that the node's module has for a tied parameter, which the call reads as `name`.
std::string ParameterNames::findTie(const Node &node, unsigned input, StringRef name) const {
  for (StringRef leaf : {nameOperand(node, input), splitName(name).second})
    if (std::string other = joinName(node.scope, leaf); isLost(other) && !traced.isMentioned(other))
      return other;
  return "";
}

void ParameterNames::findInModule(const Node &node, unsigned input, const FileTensor &tensor, Read &read) const {
  bool isListed = order.contains(tensor.name), isTurned = isNamedAsTranspose(tensor.name);
  read.name = isListed ? tensor.name : "";
  auto module = inModule.find(node.scope);
  bool isMoved = isListed || (tensor.numElements() > 1 && (isMadeUp(tensor.name) || isTurned));
  if (module == inModule.end() || !isMoved)
    return;
  auto [home, leaf] = splitName(tensor.name);
  if (isListed && home == node.scope)
    return;
  StringRef operand = nameOperand(node, input);
  SmallVector<StringRef> open, fitting;
  for (StringRef name : module->second)
    if (mayBe(tensor, name))
      open.push_back(name);
  for (StringRef name : open)
    if (StringRef last = splitName(name).second; !operand.empty() && last.ends_with(operand) && last != operand)
      fitting.push_back(name);
  for (StringRef part : {operand, leaf})
    if (std::string name = joinName(node.scope, part); llvm::is_contained(open, name)) {
      read.name = name;
      read.guess =
          isTurned ? "its reader's module lacks this one, and '" + tensor.name + "' is named like a transpose" : "";
      return;
    }
  if (!isListed && fitting.size() != 1)
    fitting = open;
  if (open.empty() || (isListed && module->second.size() != 1) || (!isListed && fitting.size() != 1))
    return;
  read.name = (isListed ? open : fitting).front().str();
  if (module->second.size() > 1 || isTurned)
    read.guess = "the only parameter of '" + node.scope + "' that is missing from the file and fits";
}

/// Whether `tensor` can be the listed parameter of this name: the file has no other tensor for it, or its transpose.
bool ParameterNames::mayBe(const FileTensor &tensor, StringRef name) const {
  bool isBias = splitName(name).second.ends_with("bias");
  bool isVector = llvm::count_if(tensor.shape, [](int64_t size) { return size != 1; }) <= 1;
  return (isLost(name) && (!isBias || isVector)) || isTransposeOf(tensor, name);
}

bool ParameterNames::isTransposeOf(const FileTensor &tensor, StringRef name) const {
  auto found = initializers.find(name);
  if (found == initializers.end() || tensor.shape.size() != 2)
    return false;
  ArrayRef<int64_t> shape = model.initializers[found->second].shape;
  return shape.size() == 2 && shape[0] == tensor.shape[1] && shape[1] == tensor.shape[0];
}

/// A decomposed group norm is an instance norm over the groups with ones and zeros, and the parameters come after it:
/// where both could have a name, it is theirs.
void ParameterNames::dropInstanceNorms(std::vector<std::vector<Read>> &reads) const {
  StringMap<unsigned> others; // name -> reads of it that are no instance norm's
  auto isGroups = [&](const Read &read) {
    return model.nodes[read.node].op == "InstanceNormalization" && !read.isTraced && !read.name.empty();
  };
  for (auto [i, of] : llvm::enumerate(reads))
    for (const Read &read : of)
      if (!read.name.empty() && !isGroups(read) && isSpreadVector(model.nodes[read.node], model.initializers[i]))
        ++others[read.name];
  StringSet<> split;
  for (std::vector<Read> &of : reads)
    for (Read &read : of)
      if (isGroups(read) && others.contains(read.name))
        split.insert(read.name), read.name.clear(), read.isComputed = false;
  for (auto [i, of] : llvm::enumerate(reads))
    for (Read &read : of)
      if (split.contains(read.name) && !isOwnName(model.initializers[i].name))
        read.isVector = isSpreadVector(model.nodes[read.node], model.initializers[i]);
}
