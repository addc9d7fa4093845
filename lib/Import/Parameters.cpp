// Undoes what exporters do to the parameters of a model that is to be trained.
//
//   merged       h.0.ln_1.weight ─┬─► ln_1 of layer 0        one initializer of ones for all norms:
//                                 └─► ln_1 of layer 1 ...    split, or they would move as one
//   tied         lm_head.weight ──┬─► wte                    one parameter, under the name that the
//                                 └─► lm_head                signature lists first
//   vanished     Gemm(x, w)                                  c_attn.bias was all zeros: restored
//   lost name    MatMul(x, val_152)                          q_proj.weight, transposed
//
// The evidence is the exporter's signature (every parameter by name) and the scope of the node that
// uses an initializer. Merges and ties look alike; the values tell them apart: random numbers
// are equal only by a tie, a tensor of one repeated number by chance of initialisation.
#include "Parameters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <cstring>

using namespace llvm;
using namespace xlc::onnx;

namespace {

/// A node's input that is a parameter, and PyTorch's name for what it reads there.
struct Use {
  unsigned node, input;
  std::string name;
  Buffer buffer;
};

/// What PyTorch's modules call the operand of an operator.
struct OperandName {
  StringLiteral op;
  unsigned input;
  StringLiteral name;
};
constexpr OperandName operandNames[] = {
    {"BatchNormalization", 1, "weight"},
    {"BatchNormalization", 2, "bias"},
    {"Conv", 1, "weight"},
    {"Conv", 2, "bias"},
    {"ConvTranspose", 1, "weight"},
    {"ConvTranspose", 2, "bias"},
    {"GroupNormalization", 1, "weight"},
    {"GroupNormalization", 2, "bias"},
    {"InstanceNormalization", 1, "weight"},
    {"InstanceNormalization", 2, "bias"},
    {"Gemm", 1, "weight"},
    {"Gemm", 2, "bias"},
    {"MatMul", 1, "weight"},
    {"Gather", 0, "weight"},
    {"Add", 0, "bias"},
    {"Add", 1, "bias"},
    {"Mul", 0, "weight"},
    {"Mul", 1, "weight"},
    {"Transpose", 0, "weight"},
    {"LayerNormalization", 1, "weight"},
    {"LayerNormalization", 2, "bias"},
};

std::string join(const std::string &scope, StringRef name) {
  return scope.empty() ? name.str() : scope + "." + name.str();
}

class Planner {
public:
  Planner(Model &model, const BatchNorms &norms, Diagnostics &diagnostics, raw_ostream *notes)
      : model(model), norms(norms), diagnostics(diagnostics), notes(notes) {}

  ParameterPlan plan() {
    indexNames();
    collectUses();
    for (unsigned i = 0; i < model.initializers.size(); ++i)
      if (!uses[i].empty())
        assign(i);
    restoreBiases();
    sortBySignature();
    warnOfFoldedNorms();
    for (const std::string &name : model.signature.parameters)
      if (!accounted.contains(name))
        diagnostics.warning("the exporter lists parameter '" + name +
                            "', but nothing in the graph reads it: it is not trained");
    return std::move(result);
  }

private:
  bool hasSignature() const { return !model.signature.parameters.empty(); }
  void note(const Twine &text) {
    if (notes)
      *notes << text << "\n";
  }

  void indexNames() {
    for (auto [i, tensor] : llvm::enumerate(model.initializers))
      initializers[tensor.name] = (unsigned)i;
    for (auto [i, name] : llvm::enumerate(model.signature.parameters)) {
      order.try_emplace(name, (unsigned)i);
      auto [scope, leaf] = StringRef(name).rsplit('.');
      inScope[leaf.empty() ? "" : scope].push_back(name);
    }
    buffers.insert_range(model.signature.buffers);
    uses.resize(model.initializers.size());
    result.isParameter.assign(model.initializers.size(), false);
  }

  void collectUses() {
    for (unsigned n = 0; n < model.nodes.size(); ++n)
      for (unsigned i = 0; i < model.nodes[n].inputs.size(); ++i) {
        auto found = initializers.find(model.nodes[n].inputs[i]);
        if (found == initializers.end())
          continue;
        auto average = norms.uses.find({n, i});
        bool isBuffer = average != norms.uses.end();
        std::string name =
            isBuffer ? average->second.name : nameUse(model.nodes[n], i, model.initializers[found->second]);
        if (!name.empty())
          uses[found->second].push_back({n, i, name, isBuffer ? average->second.buffer : Buffer::None});
      }
  }

  /// PyTorch's name of the parameter that `node` reads as `input`; empty for a constant.
  std::string nameUse(const Node &node, unsigned input, const FileTensor &tensor) {
    if (!isFloatingPoint(tensor) || tensor.shape.empty() || buffers.contains(tensor.name))
      return "";
    if (!hasSignature()) // the old exporter keeps a merged parameter's name on an Identity
      return node.op == "Identity" && StringRef(node.outputs[0]).contains('.') ? node.outputs[0] : tensor.name;
    bool isListed = order.contains(tensor.name);
    if (isListed && llvm::is_contained(norms.folded, node.scope))
      return tensor.name; // the scope is that of the norm, the tensor the layer's
    std::string guess = nameByScope(node, input, tensor);
    if (!isListed)
      return tensor.numElements() > 1 ? guess : "";
    return guess.empty() ? tensor.name : guess;
  }

  static bool isFloatingPoint(const FileTensor &tensor) {
    return tensor.type == ElementType::Float || tensor.type == ElementType::Double;
  }

  /// The parameter of the node's module that this operand must be: the initializer's own name if it
  /// belongs there, else one the file has lost, by the operand's usual name or the initializer's last part.
  std::string nameByScope(const Node &node, unsigned input, const FileTensor &tensor) {
    auto candidates = inScope.find(node.scope);
    if (candidates == inScope.end())
      return "";
    if (llvm::is_contained(candidates->second, tensor.name))
      return tensor.name;
    SmallVector<std::string> tries;
    for (const OperandName &row : operandNames)
      if (row.op == node.op && row.input == input)
        tries.push_back(join(node.scope, row.name));
    tries.push_back(join(node.scope, StringRef(tensor.name).rsplit('.').second));
    if (candidates->second.size() == 1)
      tries.push_back(candidates->second.front());
    for (const std::string &name : tries)
      if (llvm::is_contained(candidates->second, name) && !initializers.contains(name))
        return name;
    return "";
  }

  /// Whether all elements are the same number. Absent values: not known, so no.
  static bool isUniform(FileTensor &tensor) {
    if (tensor.isAbsent || !tensor.load() || tensor.bytes.empty())
      return false;
    size_t width = byteWidth((int)tensor.type);
    return std::memcmp(tensor.bytes.data(), tensor.bytes.data() + width, tensor.bytes.size() - width) == 0;
  }

  /// Makes the parameters that initializer `index` stands for.
  void assign(unsigned index) {
    FileTensor &tensor = model.initializers[index];
    if (tensor.type != ElementType::Float)
      return diagnostics.error("parameter '" + tensor.name + "' has element type " + Twine((int)tensor.type) +
                               "; parameters must be float (1)");
    result.isParameter[index] = true;
    SmallVector<std::string> names; // in order of use
    for (const Use &use : uses[index])
      if (!llvm::is_contained(names, use.name))
        names.push_back(use.name);
    if (order.contains(tensor.name) && !llvm::is_contained(names, tensor.name) && !isUniform(tensor))
      names.push_back(tensor.name);
    bool isMerge = names.size() > 1 && isUniform(tensor);
    if (names.size() > 1 && !isMerge)
      tie(names);
    if (isMerge)
      note("'" + tensor.name + "' stands for " + Twine(names.size()) + " parameters of equal initial value: split");
    StringMap<int> made;
    for (const Use &use : uses[index]) {
      std::string name = isMerge ? use.name : names.front();
      auto [entry, isNew] = made.try_emplace(name, (int)result.parameters.size());
      if (isNew)
        addParameter(index, name, use);
      result.uses[{use.node, use.input}] = entry->second;
    }
  }

  /// Puts PyTorch's name of a tied parameter, the signature's first, in front.
  void tie(SmallVectorImpl<std::string> &names) {
    llvm::sort(names, [&](const std::string &a, const std::string &b) {
      return std::make_pair(rank(a), a) < std::make_pair(rank(b), b);
    });
    for (const std::string &other : ArrayRef(names).drop_front()) {
      note("'" + other + "' is tied to '" + names.front() + "': one parameter");
      accounted.insert(other);
    }
  }

  unsigned rank(const std::string &name) const {
    auto it = order.find(name);
    return it == order.end() ? UINT_MAX : it->second;
  }

  void addParameter(unsigned index, const std::string &name, const Use &use) {
    const FileTensor &tensor = model.initializers[index];
    const Node &user = model.nodes[use.node];
    Parameter parameter{name, tensor.shape, (int)index, false, use.buffer};
    // A weight that lost its name was transposed on the way, unless it is a table.
    bool isLost = hasSignature() && !order.contains(tensor.name) && use.buffer == Buffer::None;
    if (isLost && tensor.shape.size() == 2 && user.op == "MatMul") {
      std::swap(parameter.shape[0], parameter.shape[1]);
      parameter.isTransposed = true;
    }
    if (isLost)
      note("'" + tensor.name + "' is '" + name + "'" + (parameter.isTransposed ? ", transposed" : ""));
    accounted.insert(name);
    result.parameters.push_back(std::move(parameter));
  }

  /// Where the shape of a product's columns stands: the initializer behind an operand, and whether
  /// transposes turn it around.
  std::optional<std::pair<unsigned, bool>> findWeight(const Node &node, unsigned input) const {
    if (!node.hasInput(input))
      return std::nullopt;
    auto initializer = initializers.find(node.inputs[input]);
    if (initializer != initializers.end())
      return std::make_pair(initializer->second, false);
    auto producer = transposes.find(node.inputs[input]);
    if (producer == transposes.end())
      return std::nullopt;
    return std::make_pair(producer->second, true);
  }

  /// Evidence of a folded norm: its buffers are listed, and a convolution stands in its scope.
  void warnOfFoldedNorms() {
    std::string modules, names;
    for (const std::string &scope : norms.folded) {
      modules += (modules.empty() ? "'" : ", '") + scope + "'";
      for (const std::string &name : inScope.lookup(scope))
        if (accounted.insert(name).second)
          names += (names.empty() ? "'" : ", '") + name + "'";
    }
    if (!names.empty())
      diagnostics.warning("the exporter folded the batch norms " + modules + " into the layers before them: " + names +
                          " are not trained, and nothing is normalised over the batch; export with "
                          "torch.onnx.export(model.train(), ..., dynamo=False, do_constant_folding=False, "
                          "training=torch.onnx.TrainingMode.TRAINING), or with optimize=False for frozen statistics");
  }

  /// Gemm without its third input, MatMul without its Add, LayerNormalization without bias: where the
  /// module has a bias that nothing else reads, it was zero at export.
  void restoreBiases() {
    if (!hasSignature())
      return;
    for (unsigned n = 0; n < model.nodes.size(); ++n) {
      const Node &node = model.nodes[n];
      if (node.op == "Transpose" && node.hasInput(0) && initializers.contains(node.inputs[0]))
        transposes[node.outputs[0]] = initializers[node.inputs[0]];
      bool isNorm = node.op == "LayerNormalization";
      if ((node.op != "Gemm" && node.op != "MatMul" && !isNorm) || node.hasInput(2))
        continue;
      std::string name = join(node.scope, "bias");
      auto weight = findWeight(node, 1);
      if (!order.contains(name) || accounted.contains(name) || !weight)
        continue;
      const std::vector<int64_t> &shape = model.initializers[weight->first].shape;
      auto transB = node.attributes.find("transB");
      bool turned = weight->second != (transB != node.attributes.end() && transB->second.i != 0);
      if (shape.size() != (isNorm ? 1 : 2))
        continue;
      result.vanishedBiases[n] = (int)result.parameters.size();
      result.parameters.push_back({name, {turned ? shape[0] : shape.back()}, -1, false});
      accounted.insert(name);
      note("'" + name + "' was dropped because it was zero: restored");
    }
  }

  void sortBySignature() {
    std::vector<int> sorted(result.parameters.size());
    for (size_t i = 0; i < sorted.size(); ++i)
      sorted[i] = (int)i;
    llvm::sort(sorted, [&](int a, int b) {
      return std::make_pair(rank(result.parameters[a].name), a) < std::make_pair(rank(result.parameters[b].name), b);
    });
    std::vector<Parameter> parameters;
    std::vector<int> place(sorted.size());
    for (int from : sorted) {
      place[from] = (int)parameters.size();
      parameters.push_back(result.parameters[from]);
    }
    result.parameters = std::move(parameters);
    for (auto &[use, parameter] : result.uses)
      parameter = place[parameter];
    for (auto &[node, parameter] : result.vanishedBiases)
      parameter = place[parameter];
  }

  Model &model;
  const BatchNorms &norms;
  Diagnostics &diagnostics;
  raw_ostream *notes;
  ParameterPlan result;
  StringMap<unsigned> initializers;            ///< by name
  StringMap<unsigned> order;                   ///< of the signature's names
  StringMap<SmallVector<std::string>> inScope; ///< the signature's names by module
  StringMap<unsigned> transposes;              ///< value -> initializer that it is the transpose of
  StringSet<> buffers, accounted;
  std::vector<std::vector<Use>> uses; ///< per initializer
};

} // namespace

ParameterPlan xlc::onnx::planParameters(Model &model, const BatchNorms &norms, Diagnostics &diagnostics,
                                        raw_ostream *notes) {
  return Planner(model, norms, diagnostics, notes).plan();
}
