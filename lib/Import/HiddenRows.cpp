// A query that sees no key, as left padding makes them, gets zeros from PyTorch's scaled_dot_product_attention, and gives
// no gradient. The new exporter writes
//
//     mask -> Where(mask, 0, -3.4e38) -> Add(scores) -> Softmax -> 0 where IsNaN -> MatMul(v)
//
// where such a row is no NaN and attends to all keys alike. PyTorch adds minus infinity, and with that the same nodes say
// what PyTorch does. So the number becomes minus infinity again, where the nodes' metadata name the call. A mask of floats
// is the model's own and stays what it is: attention written out in small steps with the lowest number does attend to all
// keys alike in PyTorch.
#include "HiddenRows.h"

#include "DescribeNames.h"
#include "ParameterNames.h"
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

class UnnamedAttentions {
public:
  explicit UnnamedAttentions(const Model &model) {
    for (const Node &node : model.nodes)
      for (const std::string &output : node.outputs)
        producers[output] = &node;
    for (const FileTensor &tensor : model.initializers)
      initializers[tensor.name] = &tensor;
  }

  /// The softmax before a guard, if the mask that is added to its scores is made of a condition and the lowest number.
  const Node *find(const Node &guard) const {
    if (guard.op != "IsNaN" || !guard.call.name.empty())
      return nullptr;
    const Node *softmax = producer(guard, 0, "Softmax"), *sum = softmax ? producer(*softmax, 0, "Add") : nullptr;
    for (unsigned i : {0u, 1u})
      if (const Node *where = sum ? producer(*sum, i, "Where") : nullptr; where && isFinite(*where))
        return softmax;
    return nullptr;
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

} // namespace

void xlc::onnx::warnOfHiddenRows(const Model &model, FileDiagnostics &diagnostics) {
  UnnamedAttentions attentions(model);
  std::vector<std::string> names;
  for (const Node &node : model.nodes)
    if (const Node *softmax = attentions.find(node))
      names.push_back(softmax->name);
  if (!names.empty())
    diagnostics.warning(
        listNames(names) +
        ": where a query sees no key, as with padding on the left, the mask makes it see all keys alike, and PyTorch's "
        "scaled_dot_product_attention gives zeros; the nodes' metadata would have said which: keep them, or export the "
        "model with xlc_export");
}
