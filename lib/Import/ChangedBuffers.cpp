// Buffers that forward changes: a running mean of the inputs, the vectors of a spectral norm. The signature lists them,
//
//     b_model_m: BUFFER target='model.m'
//     add: BUFFER_MUTATION target='model.m'
//
// and the graph reads the values that they had when the model was exported, in every step. Only batch norms have an
// operator that returns the next values; one that the exporter folded has lost it.
#include "BatchNorms.h"

#include "DescribeNames.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

/// The names of all values that an output depends on.
StringSet<> findLive(const Model &model) {
  StringSet<> live;
  live.insert_range(model.outputs);
  for (const Node &node : llvm::reverse(model.nodes))
    if (llvm::any_of(node.outputs, [&](const std::string &output) { return live.contains(output); })) {
      live.insert_range(node.inputs);
      for (int guard = node.guard; guard >= 0; guard = model.guards[guard].outer)
        live.insert(model.guards[guard].condition);
    }
  return live;
}

} // namespace

void xlc::onnx::refuseChangedBuffers(const Model &model, const BatchNorms &norms, FileDiagnostics &diagnostics) {
  if (model.signature.changed.empty())
    return;
  StringSet<> live = findLive(model), averages;
  for (const auto &[place, use] : norms.uses)
    averages.insert(use.name);
  std::vector<std::string> changed, folded;
  const Node *reader = nullptr;
  for (const std::string &buffer : model.signature.changed) {
    StringRef module = StringRef(buffer).rsplit('.').first;
    bool hasParameters = llvm::any_of(model.signature.parameters, [&](StringRef name) { // see refuseFolded
      return name.rsplit('.').first == module;
    });
    if (!hasParameters && llvm::is_contained(norms.folded, module) && !llvm::is_contained(folded, module))
      folded.push_back(module.str());
    if (averages.contains(buffer) || !live.contains(buffer))
      continue;
    changed.push_back(buffer);
    for (const Node &node : model.nodes)
      if (!reader && llvm::is_contained(node.inputs, buffer))
        reader = &node;
  }
  if (!changed.empty())
    diagnostics.error(
        "PyTorch's forward changes " + Twine(changed.size() == 1 ? "the buffer " : "the buffers ") +
        listNames(changed) + ", but the file has only the values at export, which " + reader->describe() +
        " reads; only batch norms may change buffers: call eval() before the export to keep them constant");
  if (!folded.empty())
    diagnostics.error(
        "the exporter folded the batch norms " + listNames(folded) +
        " into the layers before them, with averages that PyTorch's forward changes: the program would not normalise "
        "over the batch; export with xlc_export, or call eval() before the export to keep the averages constant");
}
