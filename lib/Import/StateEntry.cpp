// See StateEntry.h.
#include "StateEntry.h"

#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;
using namespace xlc;
using namespace xlc::onnx;

StringSet<> xlc::onnx::findKnownNames(const Model &model, const ParameterNames &names) {
  StringSet<> known = names.findKnown();
  if (model.record)
    for (const ExportRecord::Tensor &recorded : model.record->parameters)
      known.insert_range(recorded.ties);
  return known;
}

/// Whether all of `names`, with another prefix, are in `others`.
static bool areIn(const StringSet<> &names, const StringSet<> &others, StringRef removed, StringRef added) {
  return llvm::all_of(names.keys(), [&](StringRef name) {
    return name.consume_front(removed) && others.contains((added + name).str());
  });
}

/// Whoever exports a module that holds the model has names with a prefix (m.), and who saves a wrapped one, too
/// (module.). Where all names agree but for one prefix, there is no doubt.
StatePrefix::StatePrefix(const Model &model, const StateDict &dict, const ParameterNames &names,
                         const StringSet<> &buffers) {
  StringSet<> known = findKnownNames(model, names), own;
  for (const StateTensor &tensor : dict.tensors())
    if (tensor.isFloat())
      own.insert(tensor.name);
  if (llvm::any_of(own.keys(), [&](StringRef name) { return known.contains(name); }))
    return;
  bool isListed = names.hasSignature();
  if (!isListed)
    for (StringRef buffer : buffers.keys())
      known.erase(buffer);
  std::set<std::pair<std::string, std::string>> tried, found; // what is added, what is removed
  for (StringRef name : own.keys())
    for (StringRef other : known.keys()) {
      StringRef with = other, without = name;
      with = with.consume_back(name) && with.ends_with(".") ? with : "";
      without = without.consume_back(other) && without.ends_with(".") ? without : "";
      if (with.empty() == without.empty() || !tried.emplace(with, without).second)
        continue;
      if (isListed ? areIn(own, known, without, with) : areIn(known, own, with, without))
        found.emplace(with, without);
    }
  if (found.size() == 1)
    std::tie(added, removed) = *found.begin();
}

std::string StatePrefix::callInModel(const std::string &name) const {
  return removed.empty() ? added + name : name.substr(removed.size());
}
