// The optimising exporter drops a bias that is all zeros: Gemm has no third input, MatMul no Add, LayerNormalization no
// bias. The bias was zero and is a parameter if the call in PyTorch had a bias, or the node's module has one in the
// signature, or the weight has one beside it (`out_proj.weight` is read in the module above it), and nothing else reads
// that bias.
#include "VanishedBiases.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

/// An initializer, and whether a Transpose turns it around; then that is the node that reads it.
struct Weight {
  unsigned initializer = 0;
  bool isTurned = false;
  std::optional<std::pair<unsigned, unsigned>> reader;
};

bool isTrue(const Node &node, StringRef attribute) {
  auto found = node.attributes.find(attribute);
  return found != node.attributes.end() && found->second.i != 0;
}

/// How many columns the product with `weight` has, or the norm by it, or channels; none where it has another rank.
std::optional<int64_t> countOutputs(const Node &node, const std::vector<int64_t> &weight, bool isTurned) {
  if (node.op == "Conv")
    return weight.size() >= 3 && !isTurned ? std::optional(weight[0]) : std::nullopt;
  bool isNorm = node.op == "LayerNormalization";
  if (weight.size() != (isNorm ? 1 : 2))
    return std::nullopt;
  return isTurned != isTrue(node, "transB") ? weight[0] : weight.back();
}

/// What the bias of `node` is called: by the call in PyTorch, by its module, or as its weight is. Empty if it has none.
std::string nameBias(const Node &node, StringRef weight, const ParameterNames &names, const StringSet<> &accounted) {
  if (std::optional<StringRef> traced = names.traced.findByRole(node.call, "bias"))
    return accounted.contains(*traced) ? "" : traced->str();
  if (names.traced.isPresent() && names.traced.open().empty())
    return ""; // `matmul` has no such argument, and no call that added a bias is gone
  std::string beside = weight.consume_back("weight") ? weight.str() + "bias" : "";
  for (const std::string &name : {joinName(node.scope, "bias"), beside})
    if (names.rank(name) != UINT_MAX && !accounted.contains(name))
      return name;
  return "";
}

} // namespace

std::vector<BiaslessNode> xlc::onnx::findBiaslessNodes(const Model &model) {
  std::vector<BiaslessNode> found;
  StringMap<Weight> weights;
  for (auto [i, tensor] : llvm::enumerate(model.initializers))
    weights[tensor.name] = {(unsigned)i, false, std::nullopt};
  for (auto [n, node] : llvm::enumerate(model.nodes)) {
    if (node.op == "Transpose" && node.hasInput(0) && !node.outputs.empty())
      if (auto from = weights.find(node.inputs[0]); from != weights.end()) {
        Weight weight = from->second; // the map may grow
        weights[node.outputs[0]] = {weight.initializer, !weight.isTurned, weight.reader.value_or(std::pair(n, 0u))};
      }
    bool mayLose = node.op == "Gemm" || node.op == "MatMul" || node.op == "Conv" || node.op == "LayerNormalization";
    auto weight = mayLose && node.hasInput(1) && !node.hasInput(2) ? weights.find(node.inputs[1]) : weights.end();
    if (weight == weights.end())
      continue;
    std::vector<int64_t> shape = model.initializers[weight->second.initializer].shape;
    if (std::optional<int64_t> outputs = countOutputs(node, shape, weight->second.isTurned))
      found.push_back({(unsigned)n, weight->second.reader.value_or(std::pair(n, 1u)), *outputs});
  }
  return found;
}

std::vector<VanishedBias>
xlc::onnx::findVanishedBiases(const Model &model, const ParameterNames &names, const StringSet<> &accounted,
                              llvm::function_ref<StringRef(unsigned node, unsigned input)> nameOf) {
  std::vector<VanishedBias> biases;
  if (!names.hasSignature())
    return biases;
  StringSet<> restored;
  for (const BiaslessNode &found : findBiaslessNodes(model)) {
    StringRef weight = nameOf(found.read.first, found.read.second);
    std::string name = nameBias(model.nodes[found.node], weight, names, accounted);
    if (!name.empty() && restored.insert(name).second)
      biases.push_back({found.node, name, found.outputs});
  }
  return biases;
}
