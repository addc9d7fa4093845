// The optimising exporter drops a bias that is all zeros: Gemm has no third input, MatMul no Add, LayerNormalization no
// bias. Where the node's module has a bias in the signature that nothing else reads, it was zero at export and is a
// parameter.
#include "VanishedBiases.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

/// An initializer, and whether a Transpose turns it around.
struct Weight {
  unsigned initializer;
  bool isTurned;
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

} // namespace

std::vector<VanishedBias> xlc::onnx::findVanishedBiases(const Model &model, const ParameterNames &names,
                                                        const StringSet<> &accounted) {
  std::vector<VanishedBias> biases;
  if (!names.hasSignature())
    return biases;
  StringMap<Weight> weights;
  StringSet<> restored;
  for (auto [i, tensor] : llvm::enumerate(model.initializers))
    weights[tensor.name] = {(unsigned)i, false};
  for (auto [n, node] : llvm::enumerate(model.nodes)) {
    if (node.op == "Transpose" && node.hasInput(0) && !node.outputs.empty())
      if (auto from = weights.find(node.inputs[0]); from != weights.end())
        weights[node.outputs[0]] = {from->second.initializer, !from->second.isTurned};
    bool mayLose = node.op == "Gemm" || node.op == "MatMul" || node.op == "Conv" || node.op == "LayerNormalization";
    std::string name = joinName(node.scope, "bias");
    if (!mayLose || node.hasInput(2) || !node.hasInput(1) || names.rank(name) == UINT_MAX || accounted.contains(name))
      continue;
    auto weight = weights.find(node.inputs[1]);
    if (weight == weights.end())
      continue;
    std::vector<int64_t> shape = model.initializers[weight->second.initializer].shape;
    std::optional<int64_t> size = countOutputs(node, shape, weight->second.isTurned);
    if (size && restored.insert(name).second)
      biases.push_back({(unsigned)n, name, *size});
  }
  return biases;
}
