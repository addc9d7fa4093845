// Which names are one parameter: those that the evidence ties, and those that the spec ties or unties. PyTorch calls a
// tied parameter by the name that it lists first.
#include "ParameterPlanner.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc::onnx;

/// Puts PyTorch's name in front: the signature's first, the initializer's own, or one that a node gives. Returns
/// whether the file says that name.
bool ParameterPlanner::chooseName(Group &entry, const FileTensor &tensor) {
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
    diagnostics.error("the exporter made several tensors of parameter '" + name + "', one of them '" + tensor.name +
                      "'; " + adviseExport(model));
  unsigned number = 1; // two lost names that look alike
  while (taken.contains(name + "_" + std::to_string(number)))
    ++number;
  name += "_" + std::to_string(number);
  return false;
}

void ParameterPlanner::tie(const std::string &other, const std::string &name) {
  result.ties.emplace_back(other, name);
  note("'" + other + "' is tied to '" + name + "': one parameter");
  tied.push_back(other);
  if (!names.hasSignature() && splitName(other).second != splitName(name).second) // ties are mostly of one leaf name
    doubtful.emplace_back(other, name);
  accounted.insert(other);
  tiedFirst.insert(name);
}

/// A tied parameter may have been made in a module that never runs, such as a `shared` embedding that encoder and
/// decoder use as theirs: then the signature lists that name before all others of the tie, and PyTorch calls it so.
void ParameterPlanner::nameUnread() {
  for (const std::string &name : model.signature.parameters) {
    Parameter *parameter = accounted.contains(name) || names.traced.isMentioned(name) ? nullptr : findTied(name);
    if (!parameter)
      continue;
    std::string old = parameter->name;
    parameter->name = name;
    parameter->guess = "nothing reads it, and it is listed before '" + old + "', which is tied";
    tie(old, name);
    accounted.insert(name), taken.insert(name);
  }
}

/// The one parameter that may be tied to `name`, which nothing reads. Not where an expression that the exporter folded
/// stands in that module's place.
Parameter *ParameterPlanner::findTied(const std::string &name) {
  if (findFolded(name))
    return nullptr;
  auto [module, leaf] = splitName(name);
  Parameter *only = nullptr, *below = nullptr;
  unsigned count = 0, countBelow = 0;
  for (Parameter &parameter : result.parameters) {
    auto [home, last] = splitName(parameter.name);
    if (last != leaf || names.rank(name) >= names.rank(parameter.name))
      continue;
    if (tiedFirst.contains(parameter.name))
      only = &parameter, ++count;
    // `predictions.bias` is `predictions.decoder.bias`, where the decoder's weight is tied as well.
    StringRef from = home;
    if (isComplete() && from.consume_front(module) && from.starts_with(".") &&
        llvm::any_of(result.ties, [&](const auto &pair) {
          return splitName(pair.first).first == home || splitName(pair.second).first == home;
        }))
      below = &parameter, ++countBelow;
  }
  return countBelow == 1 ? below : count == 1 ? only : nullptr;
}

/// The parameter of this name, or a complaint that names the nearest.
std::optional<int> ParameterPlanner::findParameter(StringRef key, const std::string &name) {
  SmallVector<StringRef> all;
  for (auto [i, parameter] : llvm::enumerate(result.parameters))
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

void ParameterPlanner::tieAsAsked() {
  auto first = [&](const std::string &name) { // of the names of its parameter
    auto tie = llvm::find_if(result.ties, [&](const auto &pair) { return pair.first == name; });
    return tie == result.ties.end() ? name : tie->second;
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
      Parameter &kept = result.parameters[*first], &gone = result.parameters[*other];
      if (kept.shape != gone.shape)
        diagnostics.error(spec, "tie",
                          "tie needs parameters of one shape; '" + kept.name + "' is " + describeShape(kept.shape) +
                              ", '" + gone.name + "' is " + describeShape(gone.shape));
      else
        replace(*other, *first);
    }
  for (const std::string &name : spec.untie)
    if (!wasUntied.contains(name)) {
      SmallVector<StringRef> all(tied.begin(), tied.end());
      auto nearest = xlc::findNearest(name, all);
      diagnostics.error(spec, "untie",
                        "untie names '" + name + "', which is tied to nothing" +
                            (nearest ? "; did you mean '" + nearest->str() + "'?" : ""));
    }
}

void ParameterPlanner::replace(int from, int to) {
  note("'" + result.parameters[from].name + "' is tied to '" + result.parameters[to].name + "', as the spec asks");
  positions[to] = std::min(positions[to], positions[from]);
  result.readInstead(from, to);
  result.ties.emplace_back(result.parameters[from].name, result.parameters[to].name);
  result.parameters[from].name.clear(); // sort() drops it
}

/// The signature's order; without one, the order of use.
void ParameterPlanner::sort() {
  std::vector<int> sorted;
  for (size_t i = 0; i < result.parameters.size(); ++i)
    if (!result.parameters[i].name.empty())
      sorted.push_back((int)i);
  auto orderOf = [&](int i) { return std::make_tuple(names.rank(result.parameters[i].name), positions[i], i); };
  llvm::sort(sorted, [&](int a, int b) { return orderOf(a) < orderOf(b); });
  result.keep(sorted);
}
