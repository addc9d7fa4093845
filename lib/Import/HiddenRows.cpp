// A query that sees no key, as left padding produces, gets zeros from PyTorch's scaled_dot_product_attention, and
// contributes no gradient. The new exporter writes
//
//     mask -> Where(mask, 0, -3.4e38) -> Add(scores) -> Softmax -> 0 where IsNaN -> MatMul(v)
//
// where such a row is not NaN and attends to all keys equally. PyTorch adds minus infinity, with which the same nodes
// would compute PyTorch's result. So the number is replaced by minus infinity if the nodes' metadata name the call. A
// mask of floats is the model's own and is kept: attention written in small steps with the lowest number does attend to
// all keys equally in PyTorch.
#include "HiddenRows.h"

#include "DescribeNames.h"
#include "ParameterNames.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace xlc;
using namespace xlc::onnx;

namespace {

/// The lowest numbers of the types that attention is computed in are this or less.
constexpr double lowestOfHalf = -65504;

bool isAttention(const TracedCall &call) { return call.target == "aten.scaled_dot_product_attention.default"; }

bool stands(double number) { return std::isfinite(number) && number <= lowestOfHalf; }

} // namespace

HiddenRows::HiddenRows(const Model &model) {
  for (const Node &node : model.nodes)
    if (isAttention(node.call) && node.op == "IsNaN")
      guarded.insert(node.call.name);
  for (const FileTensor &tensor : model.initializers)
    if (isMadeUp(tensor.name))
      initializers.insert(tensor.name);
}

std::shared_ptr<const ConstantTensor> HiddenRows::hide(const Node &node, StringRef input,
                                                       const ConstantTensor &constant) {
  bool isFill = node.op == "Where" && constant.isSplat(), isMask = node.op == "Add" && initializers.contains(input);
  if (!isAttention(node.call) || !(isFill || isMask) || llvm::none_of(constant.floats, stands))
    return {};
  std::shared_ptr<const ConstantTensor> &made = hidden[&constant];
  if (!made) {
    auto copy = std::make_shared<ConstantTensor>(constant);
    std::replace_if(copy->floats.begin(), copy->floats.end(), stands, -INFINITY);
    made = copy;
  }
  return made;
}

bool HiddenRows::needsGuard(const Node &node) const {
  StringRef mask = node.call.find(3, "attn_mask");
  return isAttention(node.call) && node.op == "Softmax" && !mask.empty() && mask != "None" &&
         !guarded.contains(node.call.name);
}

//===----------------------------------------------------------------------===//
// Files without calls
//===----------------------------------------------------------------------===//

namespace {

/// Finds products behind a guard whose scores have a mask made of a condition and the lowest number.
class UnnamedAttentions {
public:
  explicit UnnamedAttentions(const Model &model) {
    for (const Node &node : model.nodes)
      for (const std::string &output : node.outputs)
        producers[output] = &node;
    for (const FileTensor &tensor : model.initializers)
      initializers[tensor.name] = &tensor;
  }

  bool isProduct(const Node &node) const {
    const Node *select = node.call.name.empty() ? producer(node, 0, "Where") : nullptr;
    const Node *guard = select ? producer(*select, 0, "IsNaN") : nullptr;
    const Node *softmax = guard ? producer(*guard, 0, "Softmax") : nullptr;
    const Node *sum = softmax ? producer(*softmax, 0, "Add") : nullptr;
    return sum && llvm::any_of(ArrayRef{0u, 1u}, [&](unsigned i) {
             const Node *where = producer(*sum, i, "Where");
             return where && isFinite(*where);
           });
  }

private:
  const Node *producer(const Node &node, unsigned input, StringRef op) const {
    const Node *found = node.hasInput(input) ? producers.lookup(node.inputs[input]) : nullptr;
    return found && found->op == op ? found : nullptr;
  }

  bool isFinite(const Node &where) const {
    return llvm::any_of(where.inputs, [&](const std::string &name) {
      auto found = initializers.find(name);
      bool isNumber = found != initializers.end() && found->second->numElements() == 1 && !found->second->isExternal &&
                      isFloat(found->second->type);
      return isNumber && stands(ConstantTensor::fromFile(*found->second).floats[0]);
    });
  }

  StringMap<const Node *> producers;
  StringMap<const FileTensor *> initializers;
};

/// Whether a mask beside others may hide all keys of some queries of a sample that has keys.
bool mayHideRows(graph::AttentionOp op) {
  bool isByQuery = op.getMask() == graph::Mask::causal || op.getWindow();
  return op.getUniform() && op.getBias() && (isByQuery || graph::typeOf(op.getBias()).getDimSize(2) > 1);
}

} // namespace

void xlc::onnx::warnOfHiddenRows(const Model &model, mlir::func::FuncOp forward, FileDiagnostics &diagnostics) {
  UnnamedAttentions attentions(model);
  StringSet<> products;
  for (const Node &node : model.nodes)
    if (attentions.isProduct(node))
      products.insert(node.name);
  std::vector<std::string> names;
  forward.walk([&](graph::AttentionOp op) {
    if (StringRef name = graph::getSourceName(op); products.contains(name) && mayHideRows(op))
      names.push_back(name.str());
  });
  if (!names.empty())
    diagnostics.warning(
        listNames(names) +
        ": if all keys of a query are masked, as with padding on the left, the query attends to all keys "
        "equally, but PyTorch's scaled_dot_product_attention returns zeros; only the nodes' metadata "
        "distinguishes the two cases: keep the metadata, or export the model with xlc_export");
}
