// BatchNormalization reads its running averages as inputs 3 and 4. In training form it also returns their next values:
//
//     1.running_mean ──► BatchNormalization ──► output 1, the running mean of the next micro-batch
//
// The old exporter may put an Identity between them, whose output then has PyTorch's name. For other norms that keep
// running averages, xlc_export marks the nodes that compute the next values.
#include "BatchNorms.h"

#include "DescribeNames.h"
#include "Evaluate.h"
#include "xlc/Spec/Spec.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

constexpr StringRef suffixes[] = {"running_mean", "running_var"};

class Finder {
public:
  Finder(Model &model, FileDiagnostics &diagnostics) : model(model), diagnostics(diagnostics) {}

  BatchNorms find() {
    for (const FileTensor &tensor : model.initializers)
      initializers.insert(tensor.name);
    buffers.insert_range(model.signature.buffers);
    for (unsigned n = 0; n < model.nodes.size(); ++n)
      if (isBatchNorm(model.nodes[n]))
        readNorm(n);
    readIdentities();
    readUpdates();
    checkOtherUses();
    findFolded();
    return std::move(result);
  }

private:
  static bool isBatchNorm(const Node &node) { return node.domain.empty() && node.op == "BatchNormalization"; }

  void readNorm(unsigned index) {
    Node &node = model.nodes[index];
    if (node.hasInput(3) && node.hasInput(4) && node.inputs[3] == node.inputs[4])
      return diagnostics.error(node.describe() + " reads '" + node.inputs[3] +
                               "' both as the running mean and "
                               "as the running variance");
    bool isTraining = isTrainingForm(node, node.opset);
    ++(isTraining ? result.numTraining : result.numInference);
    normScopes.insert(node.scope);
    for (unsigned i : {0u, 1u}) {
      if (!node.hasInput(3 + i))
        continue;
      std::string read = node.inputs[3 + i], listed = node.scope + (node.scope.empty() ? "" : ".") + suffixes[i].str();
      if (isTraining) {
        std::string &next = newest[read];
        if (!next.empty())
          node.inputs[3 + i] = next;
        next = nameOutput(node, 1 + i);
        result.updates.push_back({index, 3 + i, next});
      }
      if (node.inputs[3 + i] != read) { // a further link of a chain: only its end is kept
        result.updates.pop_back();
        for (BatchNorms::Update &update : result.updates)
          if (update.value == node.inputs[3 + i])
            update.value = newest[read];
        continue;
      }
      averages[read] = i == 0 ? Buffer::Mean : Buffer::Variance;
      if (initializers.contains(read))
        result.uses[{index, 3 + i}] = {averages[read], buffers.contains(listed) ? listed : read};
    }
  }

  /// The name of an output, made up where the node has none.
  static std::string nameOutput(Node &node, unsigned i) {
    if (node.outputs.size() <= i)
      node.outputs.resize(i + 1);
    if (node.outputs[i].empty())
      node.outputs[i] = node.name + "/" + suffixes[i - 1].str();
    return node.outputs[i];
  }

  void readIdentities() {
    for (unsigned n = (unsigned)model.nodes.size(); n-- > 0;) {
      const Node &node = model.nodes[n];
      auto average = averages.find(node.outputs.empty() ? "" : node.outputs[0]);
      if (node.op != "Identity" || !node.hasInput(0) || average == averages.end())
        continue;
      averages[node.inputs[0]] = average->second;
      if (initializers.contains(node.inputs[0]))
        result.uses[{n, 0}] = {average->second, node.outputs[0]};
      for (BatchNorms::Update &update : result.updates)
        if (model.nodes[update.node].inputs[update.input] == node.outputs[0])
          update.node = n, update.input = 0;
    }
  }

  /// Nodes that xlc_export has marked: what they make is a buffer's value in the next step.
  void readUpdates() {
    StringMap<BatchNorms::Update> marked;
    for (const Node &node : model.nodes)
      if (!node.nextOf.empty() && !node.outputs.empty())
        if (!initializers.contains(node.nextOf) || !marked.try_emplace(node.nextOf, 0, 0, node.outputs[0]).second)
          diagnostics.error(node.describe() + " updates '" + node.nextOf +
                            "', which is not an initializer, or is also updated by another node");
    for (unsigned n = 0; n < model.nodes.size(); ++n)
      for (unsigned i = 0; i < model.nodes[n].inputs.size(); ++i)
        if (StringRef name = model.nodes[n].inputs[i]; marked.contains(name)) {
          marked[name].node = n, marked[name].input = i;
          result.uses[{n, i}] = {name.ends_with(suffixes[1]) ? Buffer::Variance : Buffer::Mean, name.str()};
        }
    for (const Node &node : model.nodes) // in the order of the file
      if (auto update = marked.find(node.nextOf); update != marked.end())
        result.updates.push_back(update->second);
  }

  /// A value that is updated in place must have no other reader: it would see the old or the new one.
  void checkOtherUses() {
    StringSet<> updated;
    for (const BatchNorms::Update &update : result.updates)
      updated.insert(model.nodes[update.node].inputs[update.input]);
    for (unsigned n = 0; n < model.nodes.size(); ++n)
      for (unsigned i = 0; i < model.nodes[n].inputs.size(); ++i) {
        const std::string &name = model.nodes[n].inputs[i];
        if (initializers.contains(name) && updated.contains(name) && !result.uses.count({n, i}))
          diagnostics.error(model.nodes[n].describe() + " reads '" + name +
                            "', which holds running averages of a batch norm; only batch norms may read them");
      }
  }

  void findFolded() {
    for (const std::string &buffer : model.signature.buffers) {
      StringRef scope = buffer;
      if (!scope.consume_back(suffixes[0]) || normScopes.contains(scope.rtrim('.')))
        continue;
      scope = scope.rtrim('.');
      bool isFolded = false, isTraining = false;
      for (Node &node : model.nodes)
        if (node.scope == scope && (node.op == "Conv" || node.op == "ConvTranspose" || node.op == "Gemm")) {
          isTraining |= normalisesBatch(node.call);
          node.scope = moduleOfWeight(node), node.call = {}, isFolded = true;
        }
      if (isFolded)
        result.folded.push_back(scope.str());
      if (isTraining)
        result.foldedInTraining.push_back(scope.str());
    }
  }

  /// Whether a call in PyTorch is a batch norm that takes its statistics from the batch.
  static bool normalisesBatch(const TracedCall &call) {
    return StringRef(call.target).contains("batch_norm") && call.find(5, "training") == "True";
  }

  /// The layer that a norm was folded into is in the norm's scope; its weight still says where it belongs.
  std::string moduleOfWeight(const Node &node) const {
    bool isNamed = node.hasInput(1) && initializers.contains(node.inputs[1]);
    return isNamed && StringRef(node.inputs[1]).contains('.') ? StringRef(node.inputs[1]).rsplit('.').first.str() : "";
  }

  Model &model;
  FileDiagnostics &diagnostics;
  BatchNorms result;
  StringSet<> initializers, buffers, normScopes;
  StringMap<Buffer> averages;    ///< values that hold running averages
  StringMap<std::string> newest; ///< running average -> its latest value
};

} // namespace

bool xlc::onnx::isTrainingForm(const Node &node, int64_t opset) {
  // Until opset 13 further outputs said it.
  return opset >= 14 ? getInt(node, "training_mode", 0) != 0 : node.outputs.size() > 1;
}

BatchNorms xlc::onnx::findBatchNorms(Model &model, FileDiagnostics &diagnostics) {
  return Finder(model, diagnostics).find();
}

void xlc::onnx::warnOfNorms(const BatchNorms &norms, const Spec &spec, FileDiagnostics &diagnostics) {
  int64_t pieces = spec.dp * spec.microBatches();
  if (norms.numTraining && pieces > 1)
    diagnostics.warning(Twine(norms.numTraining) +
                        " batch norms couple the samples of a batch: their statistics are computed over one "
                        "micro-batch of " +
                        Twine(spec.microBatch) +
                        " samples on one rank, as in PyTorch; training with another dp or batch.micro gives different "
                        "results");
  if (norms.numInference)
    diagnostics.warning(Twine(norms.numInference) + (norms.numInference == 1 ? " batch norm is" : " batch norms are") +
                        " in inference form: training uses the running averages unchanged; to train with batch "
                        "statistics, call module.train() and export it with xlc_export");
}

void xlc::onnx::refuseFolded(const Model &model, const BatchNorms &norms, const std::vector<std::string> &trainable,
                             StringSet<> &accounted, FileDiagnostics &diagnostics) {
  std::vector<std::string> lost;
  for (const std::string &name : model.signature.parameters)
    if (llvm::is_contained(norms.folded, StringRef(name).rsplit('.').first) && accounted.insert(name).second &&
        matchesPatterns(name, trainable))
      lost.push_back(name);
  if (!lost.empty())
    diagnostics.error(
        "the exporter folded the batch norms " + listNames(norms.folded) + " into the layers before them, so that " +
        listNames(lost) +
        " cannot be trained, and the program would not normalise over the batch; export with "
        "torch.onnx.export(model.train(), ..., dynamo=False, do_constant_folding=False, "
        "training=torch.onnx.TrainingMode.TRAINING), or with optimize=False for frozen statistics; to keep "
        "the folded layers, set trainable: [\"*\", \"!" +
        lost.front() + "\"]");
  std::vector<std::string> bare = norms.foldedInTraining; // without parameters whose absence would tell
  llvm::erase_if(bare, [&](StringRef module) {
    return llvm::any_of(model.signature.parameters, [&](StringRef name) { return name.rsplit('.').first == module; });
  });
  if (!bare.empty())
    diagnostics.error("the exporter folded the batch norms " + listNames(bare) +
                      ", which are in training mode in PyTorch, into the layers before them, so that the program would "
                      "not normalise over the batch; export with xlc_export, or call eval() on the model");
}
