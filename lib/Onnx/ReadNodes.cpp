// Makes one flat list of nodes out of a file that may nest them: functions of the model, branches of an `If`.
//
//   call = block(x, w)             MatMul(x, w) -> "call/h"          the body once per call, its inner
//   block(a, b) { h = MatMul ... } Relu("call/h") -> call            values named after the call
//
//   y = If(c) {then: a} {else: b}  nodes of both branches, guarded   which branch runs is known when the
//                                  by c, then y = If(c, a, b)        dimensions are: Importer.cpp picks
//
// The work that a hostile file can cause is bounded: depth, recursion, and the total size of inlined code.
#include "ReadNodes.h"

#include "Files/Messages.h"
#include "NodeMetadata.h"
#include "ReadTensor.h"
#include "onnx.pb.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

constexpr int maximumDepth = 32;
constexpr size_t maximumName = 512;
constexpr int64_t maximumInlined = int64_t(1) << 20;

StringRef domainOf(StringRef domain) { return domain == "ai.onnx" ? "" : domain; }

/// A graph or a function says an opset for each domain that its nodes are of.
template <typename Owner, typename Nodes>
void checkImports(const Owner &owner, const Nodes &nodes, const Twine &who, FileDiagnostics &diagnostics) {
  StringSet<> known;
  for (const auto &entry : owner.opset_import())
    known.insert(domainOf(entry.domain()));
  for (const auto &node : nodes)
    if (StringRef domain = domainOf(node.domain()); known.insert(domain).second)
      diagnostics.error(who + " has node '" +
                        (node.name().empty() && node.output_size() ? node.output(0) : node.name()) + "' (" +
                        node.op_type() + "), but does not import an opset of the node's domain '" +
                        (domain.empty() ? "ai.onnx" : domain.str()) + "'");
}

std::string functionKey(StringRef domain, StringRef name, StringRef overload) {
  return (domain + ":" + name + ":" + overload).str();
}

/// The innermost module in "['', 'h.0', 'h.0.attn', 'transpose_3']"; the last entry is the op itself.
std::string readScopes(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, '\'');
  // 0: "[", 1: first entry, 2: ", ", 3: second entry ...
  return parts.size() >= 5 ? parts[parts.size() - 4].str() : "";
}

/// "h.0.attn" of the old exporter's node name "/h.0/attn/MatMul". A Sequential is in the path of what it holds:
/// "/d1/d1.1/Mul" is in "d1.1".
std::string readPath(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '/');
  if (parts.size() < 3 || !parts.front().empty())
    return "";
  std::string module;
  for (size_t i = 1; i + 1 < parts.size(); ++i)
    if (StringRef next = parts[i + 1]; i + 2 == parts.size() || !next.consume_front(parts[i]) || !next.starts_with("."))
      module += (module.empty() ? "" : ".") + parts[i].str();
  return module;
}

std::string findModule(const ::onnx::NodeProto &node, const NameScope &scope) {
  for (const auto &entry : node.metadata_props())
    if (entry.key() == "pkg.torch.onnx.name_scopes")
      return readScopes(entry.value());
  std::string module = readPath(node.name());
  return module.empty() ? scope.module : module;
}

} // namespace

std::string xlc::onnx::checkName(StringRef name) {
  if (name.size() > maximumName)
    return "has " + std::to_string(name.size()) + " bytes, but at most " + std::to_string(maximumName) +
           " are supported";
  if (name.find_first_of("\n\t") != StringRef::npos || xlc::runtime::escapeText(name.str()) != name)
    return "is not printable UTF-8 text";
  return "";
}

bool xlc::onnx::checkOpset(int64_t opset, const Twine &who, FileDiagnostics &diagnostics) {
  if (opset < oldestOpset)
    diagnostics.error(who + " uses opset " + Twine(opset) + ", but xlc reads opsets " + Twine(oldestOpset) + " to " +
                      Twine(newestOpset) +
                      "; export the model again with opset_version=17 or newer, or convert it "
                      "with onnx.version_converter");
  else if (opset > newestOpset)
    diagnostics.error(who + " uses opset " + Twine(opset) + ", but xlc reads opsets " + Twine(oldestOpset) + " to " +
                      Twine(newestOpset) + "; export the model again with opset_version=" + Twine(newestOpset));
  return opset >= oldestOpset && opset <= newestOpset;
}

NodeReader::NodeReader(Model &model, ::onnx::ModelProto &proto, FileDiagnostics &diagnostics)
    : model(model), diagnostics(diagnostics) {
  for (auto &function : *proto.mutable_functions()) {
    std::string key = functionKey(function.domain(), function.name(), function.overload());
    if (!functions.try_emplace(key, &function).second)
      diagnostics.error("function '" + function.name() + "' of domain '" + function.domain() + "' is defined twice");
    checkImports(function, function.node(), "function '" + function.name() + "'", diagnostics);
  }
  if (!functions.empty())
    checkImports(proto, proto.graph().node(), "the model", diagnostics);
}

void NodeReader::readGraph(::onnx::GraphProto &proto, int64_t opset) {
  graph.opset = opset;
  readNodes(graph, *proto.mutable_node());
}

void NodeReader::readInitializer(NameScope &scope, ::onnx::TensorProto &tensor, int index) {
  if (tensor.name().empty())
    return diagnostics.error("initializer " + Twine(index) + " has no name");
  FileTensor result;
  std::string what = "initializer '" + tensor.name() + "'", name = define(scope, tensor.name(), "an initializer");
  ::onnx::TensorProto copy; // of what the next call of the function reads again
  if (scope.arguments)
    copy = tensor, inlined += (int64_t)tensor.ByteSizeLong();
  if (name.empty() || !readTensor(scope.arguments ? copy : tensor, what, model.path, result, diagnostics))
    return;
  result.name = name;
  model.initializers.push_back(std::move(result));
}

/// The name in the model of what `by` defines as `name`; empty after a complaint.
std::string NodeReader::define(NameScope &scope, const std::string &name, const Twine &by) {
  if (std::string problem = checkName(name); !problem.empty())
    return diagnostics.error("the name '" + StringRef(name).take_front(64) + "' of " + by + " " + problem), "";
  std::string unique = scope.prefix + name;
  if (auto result = scope.renamed.find(name); result != scope.renamed.end())
    unique = result->second;
  else if (!scope.prefix.empty())
    while (graph.names.contains(unique) || graph.later.contains(unique) || !inner.insert(unique).second)
      unique += "'";
  if (scope.names.try_emplace(name, unique).second)
    return unique;
  diagnostics.error("'" + Twine(name) + "' is defined twice, the second time by " + by);
  return "";
}

/// The name in the model of what `node` reads; empty after a complaint.
std::string NodeReader::resolve(const NameScope &scope, const std::string &name, const Node &node) {
  if (name.empty())
    return "";
  for (const NameScope *at = &scope; at; at = at->outer)
    if (auto found = at->names.find(name); found != at->names.end())
      return found->second;
  if (scope.later.contains(name))
    diagnostics.error(node.describe() + " uses '" + name +
                      "' before it is defined: nodes must be in topological order, without cycles");
  else
    diagnostics.error(node.describe() + " uses '" + name + "', which is not defined");
  return "";
}

template <typename Nodes> void NodeReader::readNodes(NameScope &scope, Nodes &nodes) {
  for (const auto &node : nodes)
    for (const auto &output : node.output())
      scope.later.insert(output);
  for (auto &node : nodes)
    if (!isTooMuch)
      readNode(scope, node);
}

void NodeReader::readNode(NameScope &scope, ::onnx::NodeProto &from) {
  Node node;
  node.op = from.op_type();
  node.domain = domainOf(from.domain());
  node.name = from.name();
  if (node.name.empty())
    node.name =
        from.output_size() && !from.output(0).empty() ? from.output(0) : "node " + std::to_string(model.nodes.size());
  const std::pair<StringRef, StringRef> texts[] = {{"name", node.name}, {"op_type", node.op}, {"domain", node.domain}};
  for (auto [field, text] : texts)
    if (std::string problem = checkName(text); !problem.empty())
      return diagnostics.error("the " + field + " '" + text.take_front(64) + "' of node " + Twine(model.nodes.size()) +
                               " " + problem);
  node.name = scope.prefix + node.name;
  node.scope = findModule(from, scope);
  readMetadata(from, node, diagnostics);
  node.opset = scope.opset;
  node.guard = scope.guard;
  for (const std::string &input : from.input())
    node.inputs.push_back(resolve(scope, input, node));
  if (!spend(scope, node))
    return;
  auto function = functions.find(functionKey(from.domain(), from.op_type(), from.overload()));
  if (function != functions.end())
    return readCall(scope, node, from, *function->second);
  if (node.op == "If" && node.domain.empty())
    return readIf(scope, std::move(node), from);
  if (node.op == "SequenceMap" && node.domain.empty() && readSequenceMap(scope, node, from))
    return;
  for (const std::string &output : from.output())
    node.outputs.push_back(output.empty() ? "" : define(scope, output, node.describe()));
  readAttributes(scope, from, node);
  if (spend(scope, node))
    model.nodes.push_back(std::move(node));
}

/// Counts what inlining makes; false once it is too much.
bool NodeReader::spend(const NameScope &scope, const Node &node) {
  if (!scope.arguments)
    return true;
  inlined += 1 + node.inputs.size() + node.outputs.size();
  for (const auto &attribute : node.attributes)
    inlined += 1 + attribute.second.ints.size() + attribute.second.floats.size() + attribute.second.s.size();
  if (inlined > maximumInlined && !isTooMuch) {
    isTooMuch = true;
    diagnostics.error("the functions and SequenceMap nodes of the model expand to more than " + Twine(maximumInlined) +
                      " nodes, operands and attributes in total");
  }
  return !isTooMuch;
}

/// Sets up the scope of a body; false when it is too deep.
bool NodeReader::enter(NameScope &inner, const NameScope &outer, const Node &node, StringRef word) {
  inner.depth = outer.depth + 1;
  inner.guard = outer.guard;
  inner.opset = outer.opset;
  inner.module = node.scope;
  inner.prefix = (node.name.size() <= maximumName / 2 ? node.name : "call " + std::to_string(model.nodes.size())) +
                 word.str() + "/";
  if (inner.depth <= maximumDepth)
    return true;
  diagnostics.error(node.describe() + " is nested more than " + Twine(maximumDepth) + " levels deep");
  return false;
}

/// The attribute itself, or the one of the function's call that it refers to; null when the call has none.
::onnx::AttributeProto *NodeReader::findAttribute(const NameScope &scope, ::onnx::AttributeProto &attribute) const {
  if (attribute.ref_attr_name().empty())
    return &attribute;
  return scope.arguments ? scope.arguments->lookup(attribute.ref_attr_name()) : nullptr;
}

void NodeReader::readAttributes(NameScope &scope, ::onnx::NodeProto &from, Node &node) {
  for (auto &attribute : *from.mutable_attribute())
    if (::onnx::AttributeProto *found = findAttribute(scope, attribute))
      readAttribute(*found, attribute.name(), node, model.path, tensors, diagnostics);
    else if (!scope.arguments)
      diagnostics.error("attribute '" + attribute.name() + "' of " + node.describe() +
                        " refers to an attribute of a function, but is not in a function");
}

void NodeReader::readCall(NameScope &scope, const Node &call, ::onnx::NodeProto &from,
                          ::onnx::FunctionProto &function) {
  NameScope body;
  std::string key = functionKey(function.domain(), function.name(), function.overload());
  if (active.contains(key))
    return diagnostics.error(call.describe() + ": function '" + function.name() + "' calls itself");
  if (!enter(body, scope, call, ""))
    return;
  for (const auto &entry : function.opset_import())
    if (entry.domain().empty() || entry.domain() == "ai.onnx")
      body.opset = entry.version();
  if (!checkOpset(body.opset, "function '" + function.name() + "'", diagnostics))
    return;
  if ((int)call.inputs.size() > function.input_size() || from.output_size() > function.output_size())
    return diagnostics.error(call.describe() + " has " + Twine(call.inputs.size()) + " inputs and " +
                             Twine(from.output_size()) + " outputs, but its function has " +
                             Twine(function.input_size()) + " and " + Twine(function.output_size()));
  StringMap<::onnx::AttributeProto *> arguments;
  for (auto &attribute : *function.mutable_attribute_proto())
    arguments[attribute.name()] = &attribute;
  for (auto &attribute : *from.mutable_attribute())
    if (::onnx::AttributeProto *found = findAttribute(scope, attribute))
      arguments[attribute.name()] = found;
  body.arguments = &arguments;
  for (int i = 0; i < function.input_size(); ++i)
    if (!body.names.try_emplace(function.input(i), i < (int)call.inputs.size() ? call.inputs[i] : "").second)
      diagnostics.error("function '" + function.name() + "' has two inputs with the name '" + function.input(i) + "'");
  for (int i = 0; i < from.output_size(); ++i)
    if (!from.output(i).empty() && !body.names.contains(function.output(i)))
      body.renamed.try_emplace(function.output(i), define(scope, from.output(i), call.describe()));
  active.insert(key);
  readNodes(body, *function.mutable_node());
  active.erase(key);
  for (int i = 0; i < from.output_size(); ++i)
    if (!from.output(i).empty())
      bindResult(scope, body, call, from.output(i), function.output(i));
}

/// A result that the body does not define under its name (an input handed on, or one result twice) becomes an Identity.
void NodeReader::bindResult(NameScope &scope, NameScope &body, const Node &call, const std::string &output,
                            const std::string &formal) {
  auto inner = body.names.find(formal);
  if (inner == body.names.end())
    return diagnostics.error(call.describe() + ": the function does not define output '" + formal + "'");
  auto outer = scope.names.find(output);
  if (outer != scope.names.end() && outer->second == inner->second)
    return;
  Node copy;
  copy.name = call.name;
  copy.op = "Identity";
  copy.scope = call.scope, copy.opset = call.opset, copy.guard = call.guard;
  copy.inputs = {inner->second};
  copy.outputs = {outer != scope.names.end() ? outer->second : define(scope, output, call.describe())};
  model.nodes.push_back(std::move(copy));
}

void NodeReader::readIf(NameScope &scope, Node node, ::onnx::NodeProto &from) {
  ::onnx::AttributeProto *branches[2] = {nullptr, nullptr};
  for (auto &attribute : *from.mutable_attribute())
    if (attribute.has_g() && (attribute.name() == "then_branch" || attribute.name() == "else_branch"))
      branches[attribute.name() == "else_branch"] = &attribute;
  if (!branches[0] || !branches[1] || node.inputs.size() != 1 || node.inputs[0].empty())
    return diagnostics.error(node.describe() + " needs a condition, a then_branch and an else_branch");
  for (bool isThen : {true, false}) {
    ::onnx::GraphProto &branch = *branches[isThen ? 0 : 1]->mutable_g();
    if (branch.output_size() != from.output_size())
      return diagnostics.error(node.describe() + " has " + Twine(from.output_size()) + " outputs, but its " +
                               (isThen ? "then" : "else") + "_branch has " + Twine(branch.output_size()));
    if (!readBranch(scope, node, branch, isThen))
      return;
  }
  for (const std::string &output : from.output())
    node.outputs.push_back(output.empty() ? "" : define(scope, output, node.describe()));
  model.nodes.push_back(std::move(node));
}

/// Reads the nodes of a branch and adds its results to the inputs of `node`.
bool NodeReader::readBranch(NameScope &scope, Node &node, ::onnx::GraphProto &branch, bool isThen) {
  NameScope body;
  if (!enter(body, scope, node, isThen ? "/then" : "/else"))
    return false;
  body.outer = &scope;
  body.arguments = scope.arguments;
  model.guards.push_back({scope.guard, node.inputs[0], isThen});
  body.guard = (int)model.guards.size() - 1;
  for (int i = 0; i < branch.initializer_size(); ++i)
    readInitializer(body, *branch.mutable_initializer(i), i);
  readNodes(body, *branch.mutable_node());
  for (const auto &output : branch.output())
    node.inputs.push_back(resolve(body, output.name(), node));
  return true;
}
