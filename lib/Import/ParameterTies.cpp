// See ParameterTies.h.
#include "ParameterTies.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc::onnx;

bool ParameterTies::chooseName(ParameterReads &entry, const FileTensor &tensor) {
  auto rankOf = [&](const std::string &name) {
    return std::make_pair(names.rank(name), names.hasSignature() || name != tensor.name);
  };
  auto best =
      llvm::min_element(entry.names, [&](const std::string &a, const std::string &b) { return rankOf(a) < rankOf(b); });
  std::rotate(entry.names.begin(), best, best + 1);
  for (const std::string &other : ArrayRef(entry.names).drop_front())
    tie(other, entry.names.front());
  std::string &name = entry.names.front();
  bool isNamed = name == tensor.name || llvm::any_of(entry.reads, [&](const Read &read) {
                   return read.isNamed && (read.name == name || read.tie == name || read.place == name);
                 });
  if (!taken.contains(name))
    return isNamed;
  if (names.hasSignature())
    diagnostics.error("the exporter made several tensors from parameter '" + name + "', one of them '" + tensor.name +
                      "'; " + adviseExport(model));
  unsigned number = 1; // two lost names that look alike
  while (taken.contains(name + "_" + std::to_string(number)))
    ++number;
  name += "_" + std::to_string(number);
  return false;
}

void ParameterTies::tie(const std::string &other, const std::string &name) {
  plan.ties.emplace_back(other, name);
  notes("'" + other + "' is tied to '" + name + "': treated as one parameter");
  tied.push_back(other);
  if (!names.hasSignature() && splitName(other).second != splitName(name).second) // ties are mostly of one leaf name
    doubtful.emplace_back(other, name);
  named.insert(other);
  tiedFirst.insert(name);
}

void ParameterTies::nameUnread(const FoldedParameters &folded) {
  for (const std::string &name : model.signature.parameters) {
    Parameter *parameter = named.contains(name) || names.traced.isMentioned(name) ? nullptr : findTied(name, folded);
    if (!parameter)
      continue;
    std::string old = parameter->name;
    parameter->name = name;
    parameter->guess = "it is not used, and it is listed before '" + old + "', which is tied";
    tie(old, name);
    take(name);
  }
}

/// The one parameter that may be tied to `name`, which nothing reads. Not where an expression that the exporter folded
/// stands in that module's place.
Parameter *ParameterTies::findTied(const std::string &name, const FoldedParameters &folded) {
  if (folded.find(name))
    return nullptr;
  auto [module, leaf] = splitName(name);
  Parameter *only = nullptr, *below = nullptr;
  unsigned count = 0, countBelow = 0;
  for (Parameter &parameter : plan.parameters) {
    auto [home, last] = splitName(parameter.name);
    if (last != leaf || names.rank(name) >= names.rank(parameter.name))
      continue;
    if (tiedFirst.contains(parameter.name))
      only = &parameter, ++count;
    // `predictions.bias` is `predictions.decoder.bias`, where the decoder's weight is tied as well.
    StringRef from = home;
    if (folded.isComplete() && from.consume_front(module) && from.starts_with(".") &&
        llvm::any_of(plan.ties, [&](const auto &pair) {
          return splitName(pair.first).first == home || splitName(pair.second).first == home;
        }))
      below = &parameter, ++countBelow;
  }
  return countBelow == 1 ? below : count == 1 ? only : nullptr;
}

/// The parameter of this name, or a complaint that names the nearest.
std::optional<int> ParameterTies::findParameter(StringRef key, const std::string &name) {
  SmallVector<StringRef> all;
  for (auto [i, parameter] : llvm::enumerate(plan.parameters))
    if (parameter.name == name)
      return (int)i;
    else
      all.push_back(parameter.name);
  auto nearest = xlc::findNearest(name, all);
  diagnostics.error(spec, key,
                    key + " names '" + name + "', which is not a parameter" +
                        (nearest ? "; did you mean '" + nearest->str() + "'?" : ""));
  return std::nullopt;
}

void ParameterTies::tieAsAsked(std::vector<unsigned> &positions) {
  auto first = [&](const std::string &name) { // of the names of its parameter
    auto tie = llvm::find_if(plan.ties, [&](const auto &pair) { return pair.first == name; });
    return tie == plan.ties.end() ? name : tie->second;
  };
  for (const std::vector<std::string> &list : spec.tie)
    for (const std::string &name : ArrayRef(list).drop_front()) {
      if (name != list.front() && first(name) == first(list.front())) { // the values say so, too
        llvm::erase_if(doubtful, [&](const auto &pair) { return pair.second == first(name); });
        continue;
      }
      std::optional<int> first = findParameter("tie", list.front()), other = findParameter("tie", name);
      if (!first || !other || *first == *other)
        continue;
      Parameter &kept = plan.parameters[*first], &gone = plan.parameters[*other];
      if (kept.shape != gone.shape)
        diagnostics.error(spec, "tie",
                          "tie requires parameters of one shape, but '" + kept.name + "' is " +
                              describeShape(kept.shape) + " and '" + gone.name + "' is " + describeShape(gone.shape));
      else
        replace(*other, *first, positions);
    }
  for (const std::string &name : spec.untie)
    if (!wasUntied.contains(name)) {
      SmallVector<StringRef> all(tied.begin(), tied.end());
      auto nearest = xlc::findNearest(name, all);
      diagnostics.error(spec, "untie",
                        "untie names '" + name + "', which is not tied" +
                            (nearest ? "; did you mean '" + nearest->str() + "'?" : ""));
    }
}

void ParameterTies::replace(int from, int to, std::vector<unsigned> &positions) {
  notes("'" + plan.parameters[from].name + "' is tied to '" + plan.parameters[to].name + "', as set in the spec");
  positions[to] = std::min(positions[to], positions[from]);
  plan.readInstead(from, to);
  plan.ties.emplace_back(plan.parameters[from].name, plan.parameters[to].name);
  plan.parameters[from].name.clear(); // the planner drops it when it sorts
}
