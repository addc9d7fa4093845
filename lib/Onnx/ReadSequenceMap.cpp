// A SequenceMap becomes its body once for each tensor of the list, and a SequenceConstruct of what they make:
//
//   l = SequenceConstruct(x, y)              MatMul(x, w) -> "m/0/h"
//   m = SequenceMap(l, w)                    MatMul(y, w) -> "m/1/h"
//     {(t, v): h = MatMul(t, v)}             m = SequenceConstruct("m/0/h", "m/1/h")
//
// This requires a SequenceConstruct that lists the tensors, as the exporter writes for functions of lists (hstack,
// atleast_1d). For other lists the node remains, and Import rejects it.
#include "ReadNodes.h"

#include "onnx.pb.h"

using namespace llvm;
using namespace xlc::onnx;

/// What makes the list that is called `name`, if it is a SequenceConstruct.
static const Node *findList(const Model &model, StringRef name) {
  for (const Node &node : llvm::reverse(model.nodes))
    if (is_contained(node.outputs, name))
      return node.op == "SequenceConstruct" && node.domain.empty() ? &node : nullptr;
  return nullptr;
}

/// The names of what operand `input` is at each of `count` tensors; empty where that is not known.
static std::vector<std::string> findOperands(const Model &model, const std::string &input, size_t count) {
  if (const Node *list = findList(model, input))
    return list->inputs.size() == count ? list->inputs : std::vector<std::string>();
  return std::vector<std::string>(count, input); // a tensor, which all have
}

bool NodeReader::readSequenceMap(NameScope &scope, Node &node, ::onnx::NodeProto &from) {
  ::onnx::GraphProto *body = nullptr;
  for (auto &attribute : *from.mutable_attribute())
    if (attribute.has_g() && attribute.name() == "body")
      body = attribute.mutable_g();
  const Node *list = node.inputs.empty() ? nullptr : findList(model, node.inputs[0]);
  if (!body || !list || body->input_size() != (int)node.inputs.size() || body->output_size() != from.output_size())
    return false;
  size_t count = list->inputs.size();
  std::vector<std::vector<std::string>> operands, results(from.output_size());
  for (const std::string &input : node.inputs) {
    operands.push_back(findOperands(model, input, count));
    if (operands.back().empty())
      return false;
  }
  const StringMap<::onnx::AttributeProto *> none; // a body that is read several times counts as one that is inlined
  for (size_t i = 0; i < count && !isTooMuch; ++i) {
    NameScope element;
    if (!enter(element, scope, node, "/" + std::to_string(i)))
      return true;
    element.outer = &scope;
    element.arguments = scope.arguments ? scope.arguments : &none;
    for (auto [k, input] : enumerate(body->input()))
      element.names.try_emplace(input.name(), operands[k][i]);
    for (int k = 0; k < body->initializer_size(); ++k)
      readInitializer(element, *body->mutable_initializer(k), k);
    readNodes(element, *body->mutable_node());
    for (auto [k, output] : enumerate(body->output()))
      results[k].push_back(resolve(element, output.name(), node));
  }
  for (auto [k, output] : enumerate(from.output())) {
    Node made;
    made.name = node.name, made.op = "SequenceConstruct";
    made.scope = node.scope, made.call = node.call, made.opset = node.opset, made.guard = node.guard;
    made.inputs = std::move(results[k]);
    made.outputs = {output.empty() ? "" : define(scope, output, node.describe())};
    model.nodes.push_back(std::move(made));
  }
  return true;
}
