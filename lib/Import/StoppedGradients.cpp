// `y = f(x.detach())` is y = f(x) in ONNX. The evidence for a stopped gradient:
//
//   - an Identity whose call is aten.detach (unoptimized files), or whose metadata has xlc.stop_gradient = "1";
//   - the call of its reader, where the Identity is gone: Add(h, q) that came from aten.add(%h, %detach).
//
// In the second case a name must be matched to an input of a node. Names of calls are mostly names of the file's
// values; so an input whose name is not in the call is the detached one. If an input is both (`x * x.detach()`), the
// position decides, provided that node and call have the same operands. A remaining ambiguity is an error; nothing is
// guessed.
#include "StoppedGradients.h"

#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Dialect/Graph/SignatureAttributes.h"
#include "xlc/Dialect/Graph/Stops.h"
#include "xlc/Dialect/Graph/TrainingAttributes.h"
#include "xlc/Import/Import.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;
using llvm::StringRef;

namespace {

constexpr StringRef detach = "aten.detach.default";

/// "aten.add.Tensor" and "Add": an operator that takes its operands in PyTorch's order.
bool isSameFunction(StringRef target, StringRef op) {
  return target.split('.').second.split('.').first.equals_insensitive(op);
}

} // namespace

StoppedGradients::StoppedGradients(const Model &model, const ParameterPlan &plan, FileDiagnostics &diagnostics)
    : model(model), plan(plan), diagnostics(diagnostics), names(model) {
  for (const ModelInput &input : model.inputs)
    producers[input.name] = (unsigned)model.nodes.size();
  for (const FileTensor &tensor : model.initializers)
    producers[tensor.name] = (unsigned)model.nodes.size();
  for (auto [i, node] : llvm::enumerate(model.nodes)) {
    for (const std::string &output : node.outputs)
      producers[output] = (unsigned)i;
    for (auto [input, value] : llvm::enumerate(node.inputs))
      readers.try_emplace(value, Read{(unsigned)i, (unsigned)input});
    if (!node.call.name.empty() && node.op != "Constant") {
      nodesOf[node.call.name].push_back((unsigned)i);
      isAllRegion &= node.call.isInRegion;
    }
  }
}

SmallVector<unsigned> StoppedGradients::findStopped(unsigned index, FindFlow flow) {
  const Node &node = model.nodes[index];
  bool isOpen = !model.record; // marks of xlc_export say it all
  if (isOpen && !node.call.name.empty() && node.op != "Constant" && decided.insert(node.call.name).second)
    decide(node.call, nodesOf[node.call.name], flow);
  SmallVector<unsigned> inputs;
  for (unsigned i = 0; i < node.inputs.size(); ++i)
    if (node.stopsGradient || stopped.count({index, i}))
      inputs.push_back(i);
  return inputs;
}

void StoppedGradients::decide(const TracedCall &call, ArrayRef<unsigned> nodes, FindFlow flow) {
  SmallVector<Read> reads; // of what the call was given, where a gradient flows back
  for (unsigned node : nodes)
    for (unsigned i = 0; i < model.nodes[node].inputs.size(); ++i) {
      auto producer = producers.find(model.nodes[node].inputs[i]);
      bool isInner = producer != producers.end() && llvm::is_contained(nodes, producer->second);
      if (model.nodes[node].hasInput(i) && !isInner && flow(node, i) == Flow::Gradient)
        reads.push_back({node, i});
    }
  if (reads.empty())
    return;
  if (call.isInRegion)
    inRegions.push_back(model.nodes[nodes.front()].name);
  std::vector<std::string> values = call.values();
  auto isStopped = [&](StringRef name) { return names.isStop(name); };
  if (llvm::none_of(values, isStopped) && call.target != detach)
    noteSuspects(call, reads);
  else if (llvm::all_of(values, isStopped) || call.target == detach)
    llvm::for_each(reads, [&](Read read) { stop(read); });
  else if (!decideByPosition(call, nodes, reads))
    decideByName(call, reads, flow);
}

/// Where a call is one node with the same operands.
bool StoppedGradients::decideByPosition(const TracedCall &call, ArrayRef<unsigned> nodes, ArrayRef<Read> reads) {
  const Node &node = model.nodes[nodes.front()];
  std::vector<std::string> values = call.values();
  if (nodes.size() != 1 || values.size() > node.inputs.size())
    return false;
  bool isSame = values.size() == node.inputs.size() && isSameFunction(call.target, node.op);
  for (auto [i, name] : llvm::enumerate(values))
    if (!names.isStop(name) && !(isInFile(name) ? isCalled(name, {nodes.front(), (unsigned)i}) : isSame))
      return false;
  for (Read read : reads)
    if (read.input < values.size() && names.isStop(values[read.input]))
      stop(read);
  return true;
}

/// An operand with a gradient that the file has and no node of the call reads: the call has lost its first nodes.
std::string StoppedGradients::findUnread(const TracedCall &call, ArrayRef<Read> reads, FindFlow flow) const {
  for (const std::string &name : call.values()) {
    auto reader = readers.find(names.findInFile(name));
    bool isRead = llvm::any_of(reads, [&](Read read) { return isCalled(name, read); });
    if (!isRead && reader != readers.end() && flow(reader->second.node, reader->second.input) == Flow::Gradient)
      return name;
  }
  return "";
}

void StoppedGradients::decideByName(const TracedCall &call, ArrayRef<Read> reads, FindFlow flow) {
  llvm::StringSet<> stops, unnamed;
  bool hasLostParameter = false, hasLostValue = false, hasNamed = false, hasUnnamedParameter = false;
  for (const std::string &name : call.values())
    if (names.isStop(name))
      stops.insert(name);
    else if (!isInFile(name))
      (model.signature.targets.contains(name) ? hasLostParameter : hasLostValue) = true;
  for (Read read : reads)
    if (isNamed(call, read))
      hasNamed = true;
    else if (unnamed.insert(model.nodes[read.node].inputs[read.input]); plan.uses.count({read.node, read.input}))
      hasUnnamedParameter = true;
  const Node &node = model.nodes[reads.front().node];
  if (std::string unread = findUnread(call, reads, flow); !unread.empty())
    return diagnostics.error(node.describe() + " was exported from a call of " + call.target +
                             ", but no node of this call reads the operand '" + unread +
                             "': the exporter merged nodes of this call with nodes of another call, and an operand of "
                             "the call is detached; export the model with optimize=False, or with xlc_export");
  bool hasLost = (hasLostValue && !unnamed.empty()) || (hasLostParameter && hasUnnamedParameter);
  bool mayBeBoth = hasNamed && unnamed.size() < stops.size(); // x and x.detach()
  if (hasLost || mayBeBoth)
    return diagnostics.error(node.describe() + " was exported from a call of " + call.target +
                             " with a detached operand, but the file does not record which operand: export the "
                             "model with optimize=False, or with xlc_export");
  for (Read read : reads)
    if (!isNamed(call, read))
      stop(read);
}

/// Calls that read a value under a name that is gone, on lines with the word `detach`: that may have been between.
void StoppedGradients::noteSuspects(const TracedCall &call, ArrayRef<Read> reads) {
  for (Read read : reads) {
    auto producer = producers.find(model.nodes[read.node].inputs[read.input]);
    bool hasProducer = producer != producers.end() && producer->second < model.nodes.size();
    bool isSuspect = call.namesDetach || (hasProducer && model.nodes[producer->second].call.namesDetach);
    if (!isSuspect || isNamed(call, read) || plan.uses.count({read.node, read.input}))
      continue;
    suspects.push_back(model.nodes[read.node].name);
    return;
  }
}

void StoppedGradients::warn() const {
  if (model.record) // marks say it all
    return;
  if (!inRegions.empty() && !isAllRegion)
    diagnostics.warning(Twine(inRegions.size()) + (inRegions.size() == 1 ? " node is" : " nodes are") +
                        " in a block of no_grad or of autocast, and the file does not record which of the two: " +
                        listNames(inRegions) + "; gradients flow through them, as in autocast");
  if (!suspects.empty())
    diagnostics.warning(listNames(suspects) +
                        " may read detached values in PyTorch: the exporter dropped a preceding call, on a source "
                        "line with 'detach'; gradients are not stopped; optimize=False keeps such calls");
}

bool StoppedGradients::isInFile(StringRef traced) const {
  if (auto target = model.signature.targets.find(traced); target != model.signature.targets.end())
    return producers.contains(target->second) ||
           llvm::any_of(plan.parameters, [&](const Parameter &p) { return isParameter(target->second, p.name); });
  return !names.findInFile(traced).empty();
}

/// Whether PyTorch's name `target` is the parameter `name`, or tied to it.
bool StoppedGradients::isParameter(StringRef target, StringRef name) const {
  return target == name ||
         llvm::any_of(plan.ties, [&](const auto &tie) { return tie.first == target && tie.second == name; });
}

bool StoppedGradients::isCalled(StringRef traced, Read read) const {
  auto use = plan.uses.find({read.node, read.input});
  auto target = model.signature.targets.find(traced);
  if (target != model.signature.targets.end() && use != plan.uses.end())
    return isParameter(target->second, plan.parameters[use->second.parameter].name);
  if (target != model.signature.targets.end())
    return model.nodes[read.node].inputs[read.input] == target->second;
  return model.nodes[read.node].inputs[read.input] == names.findInFile(traced);
}

bool StoppedGradients::isNamed(const TracedCall &call, Read read) const {
  return llvm::any_of(call.values(), [&](StringRef name) { return !names.isStop(name) && isCalled(name, read); });
}

//===----------------------------------------------------------------------===//
// What depends on parameters
//===----------------------------------------------------------------------===//

static bool holdsFloats(Value value) {
  return isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType());
}

bool ActiveValues::contains(Value value) {
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value top = open.back();
    if (known.contains(top)) {
      open.pop_back();
    } else if (auto argument = dyn_cast<BlockArgument>(top)) {
      auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
      unsigned number = argument.getArgNumber();
      known[top] = graph::Argument(function, number).isTrained();
    } else if (isa<graph::StopGradientOp>(top.getDefiningOp()) || !holdsFloats(top)) {
      known[top] = false;
    } else {
      size_t before = open.size();
      bool isActive = false;
      for (Value operand : top.getDefiningOp()->getOperands())
        if (auto found = known.find(operand); found == known.end())
          open.push_back(operand);
        else
          isActive |= found->second;
      if (open.size() == before)
        known[top] = isActive;
    }
  }
  return known[value];
}

/// What `loss` depends on by way of floats.
static DenseSet<Value> findReached(Value loss, bool passesStops) {
  DenseSet<Value> reached{loss};
  SmallVector<Value> open{loss};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || (!passesStops && isa<graph::StopGradientOp>(op)))
      continue;
    for (Value operand : op->getOperands())
      if (holdsFloats(operand) && reached.insert(operand).second)
        open.push_back(operand);
  }
  return reached;
}

void xlc::onnx::freezeUnreached(func::FuncOp forward, FileDiagnostics &diagnostics) {
  if (forward.front().getOps<graph::StopGradientOp>().empty())
    return;
  Value loss = forward.front().getTerminator()->getOperand(0);
  DenseSet<Value> used = findReached(loss, true), reached = findReached(loss, false);
  std::vector<std::string> frozen;
  graph::SignatureAttributes attributes(forward);
  for (BlockArgument argument : forward.getArguments()) {
    auto name = graph::Argument(argument).getParameter();
    bool isTrained = graph::Argument(argument).isTrained();
    if (!isTrained || !used.contains(argument) || reached.contains(argument))
      continue;
    attributes.setArgument(argument.getArgNumber(), graph::kFrozen, UnitAttr::get(forward.getContext()));
    frozen.push_back(name.str());
  }
  if (!frozen.empty())
    diagnostics.note("gradients are stopped on all paths from the loss to " + listNames(frozen) +
                     ": not trained, as PyTorch's optimizers skip parameters without a gradient");
}
