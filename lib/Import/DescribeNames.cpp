// See DescribeNames.h.
#include "DescribeNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

std::string xlc::onnx::listNames(ArrayRef<std::string> names) {
  constexpr size_t most = 3;
  std::string text;
  for (const std::string &name : names.take_front(most))
    text += (text.empty() ? "'" : ", '") + name + "'";
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

std::string xlc::onnx::describeShape(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

std::string xlc::onnx::adviseExport(const Model &model) {
  if (model.signature.parameters.empty())
    return "export with do_constant_folding=False, or with dynamo=True and optimize=False, or with xlc_export";
  // The optimizer leaves no Constant; without it the exporter writes one for each number.
  bool isOptimized = llvm::none_of(model.nodes, [](const Node &node) { return node.op == "Constant"; });
  return isOptimized ? "export with optimize=False or with xlc_export"
                     : "export with xlc_export (this file was exported with optimize=False, which is not sufficient)";
}
