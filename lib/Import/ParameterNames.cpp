// Finds PyTorch's name of a node's operand: the evidence that exporters leave, best first.
//
//   new exporter   the signature lists every parameter (ListedNames.cpp)
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

/// Running averages are no parameters, whatever they are called.
bool isStatistic(const Node &node, unsigned input) { return node.op == "BatchNormalization" && input >= 3; }

/// Operands from this one on say how the operator works: no parameters either. PyTorch has no gradient of a loss's
/// weights of classes.
struct Setting {
  StringLiteral op;
  unsigned input;
};
constexpr Setting settings[] = {{"Clip", 1},   {"NegativeLogLikelihoodLoss", 2}, {"OneHot", 1}, {"Pad", 1},
                                {"Resize", 1}, {"SoftmaxCrossEntropyLoss", 2}};

bool isSetting(const Node &node, unsigned input) {
  return llvm::any_of(settings, [&](const Setting &row) { return row.op == node.op && input >= row.input; });
}

/// Names of what the old exporter computed: a transposed weight, and whatever else was folded.
bool isComputedName(StringRef name) { return name.contains("::") || name.starts_with("/"); }

} // namespace

bool xlc::onnx::isMadeUp(StringRef name) {
  StringRef number = name;
  return isComputedName(name) || llvm::all_of(name, isDigit) ||
         (number.consume_front("val_") && llvm::all_of(number, isDigit));
}

std::string xlc::onnx::joinName(StringRef module, StringRef name) {
  return module.empty() ? name.str() : (module + "." + name).str();
}

std::pair<StringRef, StringRef> xlc::onnx::splitName(StringRef name) {
  size_t dot = name.rfind('.');
  return dot == StringRef::npos ? std::make_pair(StringRef(), name)
                                : std::make_pair(name.take_front(dot), name.drop_front(dot + 1));
}

bool xlc::onnx::isLaterCall(StringRef other, StringRef name) {
  SmallVector<StringRef> later, first;
  other.split(later, '.'), name.split(first, '.');
  return other != name && later.size() == first.size() && llvm::all_of(llvm::zip(later, first), [](auto parts) {
           auto [one, base] = parts;
           unsigned number = 0;
           bool isNumbered = one.consume_front(base) && one.consume_front("_") && !one.getAsInteger(10, number);
           return one.empty() || isNumbered;
         });
}

bool xlc::onnx::areSiblings(StringRef a, StringRef b) {
  SmallVector<StringRef> left, right;
  a.split(left, '.'), b.split(right, '.');
  return a != b && left.size() == right.size() && llvm::all_of(llvm::zip(left, right), [](auto parts) {
           auto [one, other] = parts;
           return one == other || (llvm::all_of(one, isDigit) && llvm::all_of(other, isDigit));
         });
}

ParameterNames::ParameterNames(const Model &model) : traced(model), model(model), numbers(model.nodes.size(), 0) {
  for (auto [i, tensor] : llvm::enumerate(model.initializers))
    initializers[tensor.name] = (unsigned)i;
  for (auto [i, name] : llvm::enumerate(model.signature.parameters)) {
    order.try_emplace(name, (unsigned)i);
    inModule[splitName(name).first].push_back(name);
  }
  buffers.insert_range(model.signature.buffers);
  followAliases();
  findContainers();
}

/// Finds who uses the Identity of an initializer, and numbers the nodes that read initializers.
void ParameterNames::followAliases() {
  StringMap<unsigned> counts;
  StringMap<std::string> origin;  // alias -> the alias it is an Identity of
  StringMap<std::string> changed; // a copy of which elements were set -> what it is a copy of
  for (auto [n, node] : llvm::enumerate(model.nodes)) {
    bool reads = false;
    for (auto [i, input] : llvm::enumerate(node.inputs)) {
      bool isAlias = origin.contains(input), isInitializer = initializers.contains(input);
      reads |= isAlias || isInitializer;
      std::string bias = isAlias || isInitializer ? input : changed.lookup(input);
      if (node.op == "Add" && node.inputs.size() == 2 && !bias.empty())
        addedBias.try_emplace(node.inputs[1 - i], bias);
      if (node.op == "ScatterND" && i == 0 && !bias.empty() && !node.outputs.empty())
        changed[node.outputs[0]] = bias;
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

StringSet<> ParameterNames::findKnown() const {
  StringSet<> known = buffers;
  known.insert_range(model.signature.parameters);
  auto add = [&](StringRef name) {
    if (!hasSignature() && isOwnName(name) && name.contains('.'))
      known.insert(name);
  };
  for (const FileTensor &tensor : model.initializers)
    add(tensor.name);
  for (const auto &alias : aliasReaders)
    add(alias.getKey());
  return known;
}

std::vector<std::vector<Read>> ParameterNames::findReads() const {
  std::vector<std::vector<Read>> reads(model.initializers.size());
  for (unsigned n = 0; n < model.nodes.size(); ++n)
    for (unsigned i = 0; i < model.nodes[n].inputs.size(); ++i)
      if (auto found = initializers.find(model.nodes[n].inputs[i]); found != initializers.end())
        reads[found->second].push_back(describe(n, i, model.initializers[found->second]));
  dropInstanceNorms(reads);
  return reads;
}

Read ParameterNames::describe(unsigned n, unsigned input, const FileTensor &tensor) const {
  const Node &node = model.nodes[n];
  Read read;
  read.node = n, read.input = input, read.position = n;
  read.isPassive = node.op == "Shape" || node.op == "Size" || isSetting(node, input);
  if (!isFloat(tensor.type) || buffers.contains(tensor.name) || isStatistic(node, input))
    return read;
  read.isNamed = true;
  if (read.isPassive)
    read.name = tensor.name;
  else if (hasSignature())
    findListed(node, input, tensor, read);
  else
    findUnlisted(n, input, tensor, read);
  return read;
}

/// Without a signature: the initializer's own name, that of the Identity of it, or one that is made of the node's path.
void ParameterNames::findUnlisted(unsigned n, unsigned input, const FileTensor &tensor, Read &read) const {
  const Node &node = model.nodes[n];
  unsigned user = n, operand = input;
  read.isAlias = node.op == "Identity" && !node.outputs.empty();
  if (read.isAlias)
    if (auto reader = aliasReaders.find(node.outputs[0]); reader != aliasReaders.end())
      std::tie(user, operand) = reader->second;
  read.position = user;
  StringRef own = read.isAlias ? StringRef(node.outputs[0]) : StringRef(tensor.name);
  bool isTurned = model.nodes[user].op == "MatMul" && tensor.shape.size() == 2;
  bool isMerged = read.isAlias && isOwnName(tensor.name) && isComputedName(own) && !isTurned;
  if (isMerged || (tensor.shape.empty() && (!isOwnName(own) || !own.contains('.')))) {
    read.isComputed = isComputedName(own); // else a constant: parameters have a module or a name that PyTorch gave
    return;
  }
  read.isSibling = read.isAlias && isOwnName(own) && isOwnName(tensor.name) && own != tensor.name &&
                   splitName(own).second == splitName(tensor.name).second;
  read.isVector = isComputedName(tensor.name) && isSpreadVector(model.nodes[user], tensor);
  if (isComputedName(tensor.name) && !read.isVector && !isTurned) {
    read.isComputed = true;
    return;
  }
  bool isOwn = isOwnName(own) && (!read.isAlias || own.contains('.'));
  read.place = compose(user, operand);
  read.name = isOwn ? own.str() : read.place;
  read.isNamed = isOwn || !model.nodes[user].scope.empty();
  read.mayBeComputed =
      !isOwn && isTurned && containers.contains(model.nodes[user].scope) && nameByBias(model.nodes[user]).empty();
  if (!isOwn)
    read.guess = read.isNamed ? "named after the path of the node that reads it" : "the file has no name for it";
}

/// An nn.Linear has no modules and no other nodes: the MatMul of a module that has either is an F.linear.
void ParameterNames::findContainers() {
  for (const Node &node : model.nodes) {
    bool isLinear =
        node.op == "MatMul" || node.op == "Gemm" || node.op == "Add" || node.op == "Transpose" || node.op == "Constant";
    if (!isLinear)
      containers.insert(node.scope);
    for (StringRef outer = splitName(node.scope).first; !outer.empty(); outer = splitName(outer).first)
      containers.insert(outer);
  }
}

std::string ParameterNames::compose(unsigned n, unsigned input) const {
  const Node &node = model.nodes[n];
  StringRef operand = nameOperand(node, input);
  if (std::string name = operand == "weight" ? nameByBias(node) : ""; !name.empty())
    return name;
  std::string leaf = operand.empty() ? "input" + std::to_string(input) : operand.str();
  if (!node.scope.empty())
    return joinName(node.scope, leaf);
  return node.op + "_" + std::to_string(numbers[n]) + "." + leaf;
}

/// The bias that is added to a product says how the weight is called: `in_proj_weight`, where it is `in_proj_bias`, and
/// `qkv.weight`, where a function took the weight and the bias of module `qkv`. Also where the path leaves out a module
/// of which not `forward` was called: /decoder/fc for model.decoder.fc.
std::string ParameterNames::nameByBias(const Node &node) const {
  auto bias = node.outputs.empty() ? addedBias.end() : addedBias.find(node.outputs[0]);
  StringRef name = bias == addedBias.end() ? StringRef() : StringRef(bias->second);
  StringRef below = splitName(name).first, path = StringRef(node.scope).split('.').second;
  bool isSkipped = !path.empty() && below.ends_with(("." + path).str());
  bool isOfScope = isSkipped || (below.consume_front(node.scope) && (below.empty() || below.starts_with(".")));
  if (node.op != "MatMul" || node.scope.empty() || !isOfScope || !name.consume_back("bias"))
    return "";
  return name.str() + "weight";
}
