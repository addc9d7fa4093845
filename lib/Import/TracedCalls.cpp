// Compares nodes with the calls in PyTorch that they came from, where the exporter is known to drop something:
// `cross_entropy(..., label_smoothing=0.1)` becomes a SoftmaxCrossEntropyLoss, which has no smoothing.
#include "TracedCalls.h"

using namespace llvm;
using namespace xlc::onnx;

void xlc::onnx::warnOfSmoothing(const Model &model, FileDiagnostics &diagnostics) {
  StringMap<int> nodes; // per call: one that became several nodes may have the smoothing in the others
  for (const Node &node : model.nodes)
    nodes[node.call.name] += node.op != "Constant";
  for (const Node &node : model.nodes) {
    StringRef given = node.call.find(5, "label_smoothing");
    double smoothing = 0;
    if (node.op != "SoftmaxCrossEntropyLoss" || node.call.target != "aten.cross_entropy_loss.default" ||
        nodes.lookup(node.call.name) != 1 || given.getAsDouble(smoothing) || smoothing == 0)
      continue;
    diagnostics.warning(node.describe() + " is cross_entropy with label_smoothing = " + given +
                        " in PyTorch; the exporter dropped the smoothing, and the model is trained without it: compute "
                        "the smoothed loss from log_softmax in the model instead");
  }
}
