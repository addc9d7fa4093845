// `a - b` and `a - b.detach()` are one node after the optimizer has merged equal nodes, and so are the first nodes of
// losses that subtract:
//
//     sub = a - b                         Sub(a, b) ─┬─► Add     called with %a, %detach: a + (a - b).detach()
//     mse_loss(a, b.detach())                        └─► Mul     called with %a, %detach_1: it lost its Sub
//
// The second call names `a`, which none of its nodes reads; the operands that they read under no name of the call were
// computed from `a` by another call. So these are the call's first nodes: the call gets a copy of them, in which
// StoppedGradients.cpp then finds the stopped operand. A call of which no node remains, but whose reader still names
// it, gives no evidence of its operands: if the model detaches anything, that is an error.
#include "MergedCalls.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace xlc::onnx;

CallNames::CallNames(const Model &model) : model(model) {
  StringSet<> last; // calls whose last node was seen
  for (const ModelInput &input : model.inputs)
    values[input.name] = input.name;
  for (const FileTensor &tensor : model.initializers)
    values[tensor.name] = tensor.name;
  for (const Node &node : model.nodes)
    for (const std::string &output : node.outputs)
      values[output] = output;
  const std::vector<std::string> &inputs = model.signature.inputs; // which may take a name of the file's
  for (size_t i = 0; i < inputs.size() && inputs.size() == model.inputs.size(); ++i)
    values[inputs[i]] = model.inputs[i].name;
  for (const Node &node : llvm::reverse(model.nodes)) // an output of the model may have got another name
    if (!node.call.name.empty() && node.op != "Constant" && last.insert(node.call.name).second)
      if (node.outputs.size() == 1)
        values.try_emplace(node.call.name, node.outputs[0]);
}

StringRef CallNames::findInFile(StringRef traced) const {
  if (auto target = model.signature.targets.find(traced); target != model.signature.targets.end())
    traced = target->second;
  auto found = values.find(traced);
  return found == values.end() ? StringRef() : StringRef(found->second);
}

/// A name that PyTorch gives to the result of a `detach`. Users may give the same name to an input.
bool CallNames::isStop(StringRef traced) const {
  StringRef number = traced;
  bool isDetach = number.consume_front("detach") &&
                  (number.empty() ||
                   (number.consume_front("_") && !number.empty() && all_of(number, [](char c) { return isDigit(c); })));
  return isDetach && !model.signature.targets.contains(traced) && findInFile(traced).empty();
}

bool CallNames::hasStop(const TracedCall &call) const {
  return any_of(call.values(), [&](StringRef name) { return isStop(name); });
}

namespace {

class CallSplitter {
public:
  CallSplitter(Model &model, FileDiagnostics &diagnostics) : model(model), diagnostics(diagnostics), names(model) {
    for (auto [n, node] : enumerate(model.nodes)) {
      for (const std::string &output : node.outputs)
        producers[output] = (unsigned)n;
      if (!node.call.name.empty() && node.op != "Constant")
        nodesOf[node.call.name].push_back((unsigned)n);
    }
    for (const FileTensor &tensor : model.initializers)
      if (tensor.type == ElementType::Float && tensor.numElements() > 1 &&
          !is_contained(model.signature.buffers, tensor.name))
        trained.insert(tensor.name);
  }

  void run() {
    if (hasStops())
      for (const Node &node : model.nodes)
        if (!node.call.name.empty() && node.op != "Constant")
          refuseLost(node);
    std::vector<std::vector<Node>> before(model.nodes.size());
    for (unsigned n = 0; n < model.nodes.size(); ++n) {
      const TracedCall &call = model.nodes[n].call;
      if (!call.name.empty() && model.nodes[n].op != "Constant" && nodesOf[call.name].front() == n)
        restore(n, before[n]);
    }
    std::vector<Node> nodes;
    for (auto [node, added] : zip_equal(model.nodes, before)) {
      llvm::move(added, std::back_inserter(nodes));
      nodes.push_back(std::move(node));
    }
    model.nodes = std::move(nodes);
  }

private:
  const Node *producer(StringRef value) const {
    auto found = producers.find(value);
    return found == producers.end() ? nullptr : &model.nodes[found->second];
  }

  /// Whether `call` has `value` as an operand.
  bool isNamed(const TracedCall &call, StringRef value) const {
    return any_of(call.values(), [&](StringRef name) { return names.findInFile(name) == value; });
  }

  //===--------------------------------------------------------------------===//
  // Calls of which nothing is left
  //===--------------------------------------------------------------------===//

  /// "mse_loss" of "mse_loss_1": calls of one function are numbered.
  static StringRef functionOf(StringRef name) {
    auto [stem, number] = name.rsplit('_');
    return !number.empty() && all_of(number, [](char c) { return isDigit(c); }) ? stem : name;
  }

  /// Whether the model detaches anything: names of calls say so even where it was dropped.
  bool hasStops() const {
    return any_of(model.nodes, [&](const Node &node) {
      return names.hasStop(node.call) || node.call.target == "aten.detach.default" || node.call.namesDetach;
    });
  }

  void refuseLost(const Node &node) {
    for (const std::string &input : node.inputs) {
      const Node *twin = producer(input);
      if (!twin || twin->call.name.empty() || twin->call.name == node.call.name || !isReadAsOther(node, input))
        continue;
      for (const std::string &name : node.call.values())
        if (names.findInFile(name).empty() && !names.isStop(name) && !nodesOf.contains(name) &&
            functionOf(name) == functionOf(twin->call.name) && isTrained(input) && refused.insert(name).second)
          diagnostics.error(node.describe() + " reads '" + name +
                            "' in PyTorch; the exporter merged this value with '" + twin->call.name +
                            "', and one of the two may depend on a detached value of the model: export the model with "
                            "optimize=False, or with xlc_export");
    }
  }

  /// Whether `node` reads `value` more often than its call names it.
  bool isReadAsOther(const Node &node, StringRef value) const {
    return count(node.inputs, value) >
           count_if(node.call.values(), [&](StringRef name) { return names.findInFile(name) == value; });
  }

  /// Whether `value` is made of parameters, by way of anything.
  bool isTrained(StringRef value) const {
    SetVector<StringRef> values;
    values.insert(value);
    for (size_t i = 0; i < values.size(); ++i)
      if (const Node *from = producer(values[i]))
        values.insert_range(from->inputs);
      else if (trained.contains(values[i]))
        return true;
    return false;
  }

  //===--------------------------------------------------------------------===//
  // Calls that lost their first nodes
  //===--------------------------------------------------------------------===//

  /// Puts what the call of node `n`, its first, has lost into `added`.
  void restore(unsigned n, std::vector<Node> &added) {
    const TracedCall &call = model.nodes[n].call;
    StringSet<> read;
    SetVector<StringRef> unnamed;
    for (unsigned own : nodesOf[call.name])
      for (StringRef input : model.nodes[own].inputs) {
        const Node *from = producer(input);
        read.insert(input);
        if (from && !from->call.name.empty() && from->call.name != call.name && !isNamed(call, input))
          unnamed.insert(input);
      }
    for (StringRef value : unnamed) {
      SetVector<unsigned> slice = findSlice(value);
      bool isStopped = names.hasStop(call) || names.hasStop(model.nodes[slice.front()].call);
      if (isStopped && any_of(slice, [&](unsigned node) { return hasUnread(call, read, node); }))
        copySlice(call, value.str(), slice, added);
    }
  }

  /// The nodes of one call that make `value`.
  SetVector<unsigned> findSlice(StringRef value) const {
    SetVector<unsigned> slice;
    slice.insert(producers.lookup(value));
    for (size_t i = 0; i < slice.size(); ++i)
      for (const std::string &input : model.nodes[slice[i]].inputs)
        if (const Node *from = producer(input); from && from->call.name == model.nodes[slice[0]].call.name)
          slice.insert(producers.lookup(input));
    return slice;
  }

  /// Whether a node reads what `call` names and no node of it reads.
  bool hasUnread(const TracedCall &call, const StringSet<> &read, unsigned node) const {
    return any_of(model.nodes[node].inputs,
                  [&](StringRef input) { return !read.contains(input) && isNamed(call, input); });
  }

  void copySlice(const TracedCall &call, const std::string &value, const SetVector<unsigned> &slice,
                 std::vector<Node> &added) {
    std::string suffix = "/" + call.name;
    StringSet<> made;
    for (unsigned node : slice)
      for (const std::string &output : model.nodes[node].outputs)
        made.insert(output);
    SmallVector<unsigned> order(slice.begin(), slice.end());
    llvm::sort(order);
    for (unsigned node : order) {
      Node copy = model.nodes[node];
      copy.name += suffix, copy.call = call, copy.scope = model.nodes[nodesOf[call.name].front()].scope;
      for (std::string &output : copy.outputs)
        output += suffix;
      for (std::string &input : copy.inputs)
        input += made.contains(input) ? suffix : "";
      added.push_back(std::move(copy));
    }
    for (unsigned own : nodesOf[call.name])
      for (std::string &input : model.nodes[own].inputs)
        input += input == value ? suffix : "";
  }

  Model &model;
  FileDiagnostics &diagnostics;
  CallNames names;
  StringMap<unsigned> producers;            ///< value -> node
  StringMap<SmallVector<unsigned>> nodesOf; ///< by name of the call, without constants
  StringSet<> trained;                      ///< initializers of floats that are no buffers and no numbers
  StringSet<> refused;                      ///< names that were said to be gone
};

} // namespace

void xlc::onnx::splitMergedCalls(Model &model, FileDiagnostics &diagnostics) { CallSplitter(model, diagnostics).run(); }
