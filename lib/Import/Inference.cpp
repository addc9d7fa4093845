// See Inference.h.
#include "Inference.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace llvm;
using namespace xlc;
using namespace xlc::onnx;

namespace {

bool isOnnx(const Node &node, StringRef op) { return node.domain.empty() && node.op == op; }

bool draws(const Node &node) {
  return node.domain.empty() && (StringRef(node.op).starts_with("Random") || node.op == "Bernoulli");
}

class Inference {
public:
  Inference(const Model &model, const ParameterPlan &plan, FileDiagnostics &diagnostics)
      : model(model), diagnostics(diagnostics), result{model.nodes, plan} {
    for (const FileTensor &tensor : model.initializers)
      initializers[tensor.name] = &tensor;
    for (unsigned i = 0; i < model.nodes.size(); ++i) {
      for (const std::string &name : model.nodes[i].inputs)
        readers[name].push_back(i);
      for (const std::string &name : model.nodes[i].outputs)
        makers[name] = i;
    }
  }

  std::optional<InferringNodes> make() {
    bool isFine = true;
    for (unsigned i = 0; i < model.nodes.size(); ++i) {
      const Node &node = model.nodes[i];
      if (isOnnx(node, "BatchNormalization") && isTrainingForm(node, node.opset))
        normaliseByAverages(i);
      else if (draws(node) && !replaceMask(i))
        isFine = complain(node, "draws random numbers outside a dropout, which inference does not support");
      else if (!node.nextOf.empty())
        isFine = complain(node, "updates '" + node.nextOf + "', which inference must not change");
    }
    return isFine ? std::optional(std::move(result)) : std::nullopt;
  }

private:
  bool complain(const Node &node, const Twine &why) {
    diagnostics.error("the model cannot be evaluated: " + node.describe() +
                      (node.scope.empty() ? Twine("") : Twine(" in '") + node.scope + "'") + " " + why);
    return false;
  }

  /// Of a chain of norms on the same averages each reads those that the first one reads.
  void normaliseByAverages(unsigned index) {
    Node &node = result.nodes[index];
    for (unsigned i : {3u, 4u}) {
      auto use = result.plan.uses.find({index, i});
      for (auto it = makers.find(node.inputs[i]); use == result.plan.uses.end() && it != makers.end();
           it = makers.find(result.nodes[it->second].inputs[i])) {
        if (!isOnnx(result.nodes[it->second], "BatchNormalization"))
          break;
        use = result.plan.uses.find({it->second, i});
        node.inputs[i] = result.nodes[it->second].inputs[i];
      }
      if (use != result.plan.uses.end())
        result.plan.uses[{index, i}] = ParameterUse(use->second);
    }
    node.attributes.erase("training_mode");
    node.outputs.resize(1);
  }

  /// The one number that a value is, where the file says it.
  std::optional<double> findNumber(const std::string &name) {
    const FileTensor *tensor = nullptr;
    if (auto it = initializers.find(name); it != initializers.end())
      tensor = it->second;
    else if (auto maker = makers.find(name); maker != makers.end() && model.nodes[maker->second].op == "Constant")
      if (auto value = model.nodes[maker->second].attributes.find("value");
          value != model.nodes[maker->second].attributes.end())
        tensor = value->second.tensor.get();
    if (!tensor || tensor->numElements() != 1)
      return std::nullopt;
    FileTensor copy = *tensor;
    if (!copy.load())
      return std::nullopt;
    if (copy.type == ElementType::Float && copy.bytes.size() == sizeof(float)) {
      float number;
      std::memcpy(&number, copy.bytes.data(), sizeof number);
      return number;
    }
    if (copy.type == ElementType::Double && copy.bytes.size() == sizeof(double)) {
      double number;
      std::memcpy(&number, copy.bytes.data(), sizeof number);
      return number;
    }
    return std::nullopt;
  }

  /// The one node that reads what node `index` makes.
  std::optional<unsigned> findReader(unsigned index) const {
    if (model.nodes[index].outputs.empty())
      return std::nullopt;
    auto it = readers.find(model.nodes[index].outputs[0]);
    return it != readers.end() && it->second.size() == 1 ? std::optional(it->second.front()) : std::nullopt;
  }

  /// The other operand of a node of two, as a number.
  std::optional<double> findOther(const Node &node, const std::string &operand) {
    if (node.inputs.size() != 2)
      return std::nullopt;
    return findNumber(node.inputs[node.inputs[0] == operand]);
  }

  /// Turns the mask that a node draws into its mean, where it is one by which values are multiplied.
  bool replaceMask(unsigned index) {
    const Node &node = model.nodes[index];
    std::optional<double> probability;
    unsigned last = index;
    if (node.op == "Bernoulli") {
      probability = findMean(node.inputs.empty() ? "" : node.inputs[0]);
    } else if (StringRef(node.op).starts_with("RandomUniform")) {
      std::optional<unsigned> reader = findReader(index);
      if (!reader)
        return false;
      const Node &next = model.nodes[*reader];
      const std::string &drawn = node.outputs[0];
      std::optional<double> other = findOther(next, drawn);
      if (isOnnx(next, "Less") && next.inputs[0] == drawn)
        probability = other;
      else if (std::optional<unsigned> floor = findReader(*reader);
               isOnnx(next, "Add") && floor && isOnnx(model.nodes[*floor], "Floor"))
        probability = other, reader = floor;
      last = *reader;
    }
    for (std::optional<unsigned> cast = findReader(last); cast && isOnnx(model.nodes[*cast], "Cast");
         cast = findReader(last))
      last = *cast;
    if (!probability || !(*probability > 0 && *probability <= 1) || !multiplies(last))
      return false;
    makeConstant(index, (float)*probability); // and nothing is drawn
    makeConstant(last, (float)*probability);  // of no dimensions: a mask is repeated anyway
    return true;
  }

  void makeConstant(unsigned index, float number) {
    Node &node = result.nodes[index];
    node.op = "Constant", node.inputs.clear(), node.attributes.clear();
    node.outputs.resize(1);
    auto tensor = std::make_shared<FileTensor>();
    tensor->name = node.name, tensor->type = ElementType::Float;
    tensor->bytes.assign((const char *)&number, sizeof number);
    Attribute value;
    value.kind = Attribute::Kind::Tensor, value.tensor = std::move(tensor);
    node.attributes["value"] = std::move(value);
  }

  /// The mean of a tensor of probabilities that are all the same, as far as it is a constant that was expanded.
  std::optional<double> findMean(const std::string &name) {
    if (std::optional<double> number = findNumber(name))
      return number;
    auto maker = makers.find(name);
    if (maker == makers.end())
      return std::nullopt;
    const Node &node = model.nodes[maker->second];
    if (isOnnx(node, "Expand") || isOnnx(node, "Identity") || isOnnx(node, "Cast"))
      return findMean(node.inputs.empty() ? "" : node.inputs[0]);
    if (!isOnnx(node, "ConstantOfShape"))
      return std::nullopt;
    auto value = node.attributes.find("value");
    if (value == node.attributes.end() || !value->second.tensor || value->second.tensor->numElements() != 1 ||
        value->second.tensor->type != ElementType::Float)
      return std::nullopt;
    float number;
    std::memcpy(&number, value->second.tensor->bytes.data(), sizeof number);
    return number;
  }

  /// Whether what a node makes is multiplied into others, perhaps divided by a number before, and read by nothing else.
  bool multiplies(unsigned index) const {
    if (model.nodes[index].outputs.empty())
      return false;
    const std::string &name = model.nodes[index].outputs[0];
    auto it = readers.find(name);
    bool isRead = it != readers.end() && !is_contained(model.outputs, name);
    return isRead && all_of(it->second, [&](unsigned reader) {
             const Node &node = model.nodes[reader];
             return isOnnx(node, "Mul") || (isOnnx(node, "Div") && node.inputs[0] == name && multiplies(reader));
           });
  }

  const Model &model;
  FileDiagnostics &diagnostics;
  InferringNodes result;
  StringMap<const FileTensor *> initializers;
  StringMap<SmallVector<unsigned, 1>> readers; ///< nodes by the name of a value
  StringMap<unsigned> makers;
};

} // namespace

std::optional<InferringNodes> xlc::onnx::makeInferring(const Model &model, const ParameterPlan &plan,
                                                       FileDiagnostics &diagnostics) {
  return Inference(model, plan, diagnostics).make();
}
