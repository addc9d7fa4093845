// See StateTies.h.
#include "StateTies.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc;
using namespace xlc::onnx;

bool StateTies::find(const EntriesByContent &byContent) {
  model.record ? tieAsRecorded() : tieEqual(byContent);
  return tieAsAsked();
}

int StateTies::findRecorded(const ExportRecord::Tensor &recorded) const {
  auto found = byName.find(recorded.name);
  for (const std::string &tie : recorded.ties)
    found = found == byName.end() ? byName.find(tie) : found;
  return found == byName.end() ? -1 : found->second;
}

void StateTies::tieAsRecorded() {
  for (const ExportRecord::Tensor &recorded : model.record->parameters) {
    int first = findRecorded(recorded);
    for (const std::string &tie : recorded.ties)
      if (auto other = byName.find(tie); other != byName.end())
        entries[other->second].tied = first;
    if (first >= 0)
      entries[first].isFrozen |= !recorded.requiresGradient;
  }
}

void StateTies::tieEqual(const EntriesByContent &byContent) {
  auto rankOf = [&](int e) { return std::make_tuple(names.rank(entries[e].called), entries[e].own < 0, e); };
  for (const auto &[key, alike] : byContent) {
    std::vector<int> sorted = alike;
    llvm::sort(sorted, [&](int a, int b) { return rankOf(a) < rankOf(b); });
    for (auto [at, e] : llvm::enumerate(sorted))
      for (int first : ArrayRef(sorted).take_front(at)) {
        const StateEntry &a = entries[first], &b = entries[e];
        bool isShared = a.tensor->offset == b.tensor->offset, isKeptApart = a.own >= 0 && b.own >= 0 && a.own != b.own;
        bool isTie = a.tied == first && a.shape() == b.shape() && a.ownContent == b.ownContent && !a.isBuffer &&
                     (isShared || (!a.content.isUniform && !areSiblings(a.name(), b.name()) && !isKeptApart));
        if (isTie && !llvm::is_contained(spec.untie, b.name()) && entries[e].tied == e)
          entries[e].tied = first;
      }
  }
}

/// Ties that only the spec knows: the first of each list stays, with its values.
bool StateTies::tieAsAsked() {
  SmallVector<StringRef> all;
  StringMap<int> own;
  for (auto [e, entry] : llvm::enumerate(entries))
    all.push_back(entry.name()), own[entry.name()] = (int)e;
  bool isGood = true;
  for (const std::vector<std::string> &list : spec.tie)
    for (const std::string &name : list) {
      auto first = own.find(list.front()), other = own.find(name);
      if (other == own.end()) {
        std::optional<StringRef> nearest = findNearest(name, all);
        diagnostics.error(spec, "tie",
                          "tie names '" + name + "', which is not a parameter" +
                              (nearest ? "; did you mean '" + nearest->str() + "'?" : ""));
        isGood = false;
      } else if (first != own.end() && entries[first->second].shape() != entries[other->second].shape()) {
        diagnostics.error(spec, "tie",
                          "tie requires parameters of one shape, but '" + list.front() + "' is " +
                              describeShape(entries[first->second].shape()) + " and '" + name + "' is " +
                              describeShape(entries[other->second].shape()));
        isGood = false;
      } else if (first != own.end()) {
        entries[other->second].tied = entries[first->second].tied;
      }
    }
  return isGood;
}
