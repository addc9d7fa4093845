// PyTorch gives the padding row of an embedding (`padding_idx`) no gradient; ONNX's Gather has no such thing. It is found
//
//   in the node's metadata               xlc.padding_idx = "1"                                      any row
//   in the call that the node came from  aten.embedding.default](args = (%weight, %ids, 1), ...     -1: none
//
// It belongs to one lookup: a tied output layer moves that row still.
#include "Padding.h"

using namespace llvm;
using namespace xlc::onnx;

void xlc::onnx::findPadding(Model &model, Diagnostics &diagnostics) {
  for (Node &node : model.nodes) {
    int64_t row = -1;
    if (node.op != "Gather" || node.call.target != "aten.embedding.default")
      continue;
    if (node.call.find(3, "scale_grad_by_freq") == "True")
      diagnostics.error(node.describe() + " is an embedding with scale_grad_by_freq in PyTorch, which is not supported");
    if (!node.paddingIndex && !node.call.find(2, "padding_idx").getAsInteger(10, row) && row != -1)
      node.paddingIndex = row;
  }
}
