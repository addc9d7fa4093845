// See Adapter.h. The names are those of get_peft_model_state_dict (PEFT 0.21).
#include "Adapter.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace xlc::runtime {
namespace {

constexpr std::string_view peftModel = ".base_model.model.", adapterName = ".default";

struct NameInAdapter {
  std::string name;
  bool isOfAdapter = false; ///< it had the adapter's name
};

bool cutEnd(std::string_view &text, std::string_view end) {
  bool has = text.ends_with(end);
  text.remove_suffix(has ? end.size() : 0);
  return has;
}

/// The adapter's name is that of a parameter, or of the module that holds it: the last word or the one before. A module
/// that is trained as a whole (modules_to_save) has the name of the original one; the magnitude of DoRA is a parameter
/// there, and not a module.
NameInAdapter removeAdapterName(std::string_view name) {
  constexpr std::string_view whole = ".modules_to_save.default.";
  if (size_t at = name.find(whole); at != std::string_view::npos)
    return {fmt::format("{}.{}", name.substr(0, at), name.substr(at + whole.size())), true};
  std::string_view module = name.substr(0, name.rfind('.')), parameter = name.substr(module.size());
  if (cutEnd(name, adapterName))
    return {std::string(name), true};
  if (!cutEnd(module, adapterName))
    return {std::string(name), false};
  return {fmt::format("{}{}", module, module.ends_with(".lora_magnitude_vector") ? "" : parameter), true};
}

/// None: it is in no model of PEFT.
std::optional<NameInAdapter> nameInAdapter(const std::string &name) {
  std::string dotted = "." + name;
  size_t at = dotted.find(peftModel);
  if (at == std::string::npos)
    return std::nullopt;
  return removeAdapterName(std::string_view(dotted).substr(at + 1));
}

} // namespace

Adapter findAdapter(const Checkpoint &checkpoint) {
  std::set<std::string> trained;
  for (const SavedTensor &tensor : checkpoint.manifest().tensors)
    if (!tensor.isOfModel())
      trained.insert(tensor.name);
  Adapter adapter;
  bool hasAny = false;
  std::map<std::string, std::string> taken; // by the name in the file
  for (const SavedTensor &tensor : checkpoint.manifest().tensors) {
    if (!tensor.isOfModel())
      continue;
    bool isTrained = trained.contains(tensor.name);
    std::optional<NameInAdapter> found = nameInAdapter(tensor.name);
    if (!found && isTrained)
      adapter.leftOut.push_back(tensor.name);
    if (!found || (!isTrained && !found->isOfAdapter))
      continue;
    hasAny |= found->isOfAdapter;
    if (auto [other, isNew] = taken.emplace(found->name, tensor.name); !isNew)
      throw Rejected(fmt::format("{}: error: '{}' and '{}' would both be named '{}' in the adapter's file",
                                 checkpoint.folder, other->second, tensor.name, found->name));
    adapter.tensors.push_back({&tensor, found->name});
  }
  if (!hasAny)
    throw Rejected(fmt::format("{}: error: has no PEFT adapter: none of its parameters has a name like "
                               "base_model.model.MODULE.lora_A.default.weight",
                               checkpoint.folder));
  return adapter;
}

} // namespace xlc::runtime
