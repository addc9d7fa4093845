// The strongest evidence: the metadata of each node contains the call in PyTorch that it came from,
//
//     %linear_3 : call_function[target=torch.ops.aten.linear.default](args = (%relu, %p_fc_weight, %p_fc_bias))
//
// and the signature states that p_fc_weight is the parameter fc.weight. So the operand of a MatMul of that call is
// fc.weight, for any name of the initializer, and two parameters with equal initial values are distinguished from a
// tied one: PyTorch writes a tied parameter under one of its names everywhere.
//
// A call that the exporter folded, merged with an equal one or dropped is detected if another call reads its result.
#include "TracedParameters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

/// Where a call has its weight and its bias; -1: it has none. `scale`: a keyword that multiplies the weight, which the
/// exporter may do.
struct Roles {
  StringLiteral target;
  int weight, bias;
  StringLiteral scale = "";
};
constexpr Roles roles[] = {
    {"aten.addcmul.", 1, 0, "value"},
    {"aten.addmm.", 2, 0},
    {"aten.batch_norm.", 1, 2},
    {"aten.conv1d.", 1, 2},
    {"aten.conv2d.", 1, 2},
    {"aten.conv3d.", 1, 2},
    {"aten.convolution.", 1, 2},
    {"aten.embedding.", 0, -1},
    {"aten.group_norm.", 2, 3},
    {"aten.instance_norm.", 1, 2},
    {"aten.layer_norm.", 2, 3},
    {"aten.linear.", 1, 2},
    {"aten.native_layer_norm.", 2, 3},
    {"aten.prelu.", 1, -1},
    {"aten.rms_norm.", 2, -1},
};

const Roles *findRoles(const TracedCall &call) {
  const Roles *row =
      llvm::find_if(roles, [&](const Roles &each) { return StringRef(call.target).starts_with(each.target); });
  return row == std::end(roles) ? nullptr : row;
}

/// Calls that make constants, and others that move elements or reckon with sizes: one that is gone, and no constant of
/// that name, has lost no parameter.
constexpr StringLiteral makers[] = {"arange", "full", "new_ones", "ones", "scalar_tensor_default", "zeros"};
constexpr StringLiteral movers[] = {"_to_copy", "_unsafe_view", "alias",   "clone",     "contiguous", "expand",
                                    "floordiv", "getitem",      "mod",     "slice",     "squeeze",    "sym_max",
                                    "sym_min",  "sym_size_int", "type_as", "unsqueeze", "view"};

constexpr StringLiteral transpositions[] = {"mT", "numpy_T", "permute", "t", "transpose"};

} // namespace

StringRef xlc::onnx::kindOfValue(StringRef value) {
  if (llvm::is_contained(makers, value))
    return value;
  auto [kind, number] = value.rsplit('_');
  return !number.empty() && llvm::all_of(number, isDigit) ? kind : value;
}

bool xlc::onnx::isNamedAsConstant(StringRef name) { return llvm::is_contained(makers, kindOfValue(name)); }

bool xlc::onnx::isNamedAsTranspose(StringRef name) { return llvm::is_contained(transpositions, kindOfValue(name)); }

TracedParameters::TracedParameters(const Model &model) : model(model) {
  parameters.insert_range(model.signature.parameters);
  inputs.insert_range(model.signature.inputs);
  for (const auto &entry : model.signature.targets)
    placeholders[entry.second] = entry.first();
  for (const Node &node : model.nodes)
    if (!node.call.name.empty())
      calls.insert(node.call.name);
  for (const Node &node : model.nodes) {
    for (StringRef name : parametersOf(node.call))
      mentioned.insert(name);
    for (const std::string &value : node.call.values())
      if (!isMade(value) && !isNamedAsConstant(value) && !llvm::is_contained(movers, kindOfValue(value)))
        missing.insert(value);
  }
}

bool TracedParameters::isMade(StringRef value) const {
  return calls.contains(value) || inputs.contains(value) || model.signature.targets.contains(value) ||
         value.starts_with("c_");
}

SmallVector<StringRef> TracedParameters::parametersOf(const TracedCall &call) const {
  SmallVector<StringRef> names;
  for (const std::string &value : call.values())
    if (auto found = model.signature.targets.find(value);
        found != model.signature.targets.end() && parameters.contains(found->second))
      names.push_back(found->second);
  return names;
}

std::optional<StringRef> TracedParameters::findByRole(const TracedCall &call, StringRef role) const {
  const Roles *row = findRoles(call);
  if (!row || (!row->scale.empty() && !call.find(SIZE_MAX, row->scale).empty()))
    return std::nullopt;
  int position = role == "weight" ? row->weight : role == "bias" ? row->bias : -1;
  StringRef value = position < 0 ? StringRef() : call.find(position, role);
  auto found = value.consume_front("%") ? model.signature.targets.find(value) : model.signature.targets.end();
  return found != model.signature.targets.end() && parameters.contains(found->second) ? StringRef(found->second) : "";
}

bool TracedParameters::keepsShapeOfWeight(const TracedCall &call) {
  const Roles *row = findRoles(call);
  return row && !row->scale.empty(); // a call that scales its weight is elementwise
}

Missing TracedParameters::classify(StringRef value) const {
  if (isMade(value))
    return Missing::Nothing;
  bool isMoved = llvm::is_contained(movers, kindOfValue(value)) || isNamedAsTranspose(value);
  return isNamedAsConstant(value) ? Missing::Constant : isMoved ? Missing::Moved : Missing::Computed;
}

Missing TracedParameters::findMissing(const Node &node, unsigned input, std::string &name) const {
  const std::vector<std::string> &arguments = node.call.arguments;
  // Where node and call have the same operands, the position tells.
  bool isSame = arguments.size() == node.inputs.size();
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (StringRef value = argument; isSame && i != input && value.consume_front("%") && calls.contains(value))
      isSame = node.inputs[i] == value;
  if (isSame) {
    StringRef value = arguments[input];
    if (!value.consume_front("%"))
      return Missing::Nothing;
    name = value.str();
    return classify(value);
  }
  std::string computed;
  Missing found = Missing::Nothing;
  for (const std::string &value : node.call.values()) {
    Missing missing = classify(value);
    if (missing == Missing::Moved)
      return missing;
    if (missing == Missing::Computed)
      computed = value;
    found = std::max(found, missing);
  }
  name = computed;
  return found;
}

StringRef TracedParameters::findMerged(const TracedCall &call, StringRef given) const {
  StringRef merged;
  for (const std::string &argument : call.arguments) {
    StringRef value = argument;
    if (!value.consume_front("%"))
      continue;
    if (value == given)
      return "";
    if (merged.empty() && !isMade(value) && kindOfValue(value) == kindOfValue(given))
      merged = value;
  }
  return merged;
}
