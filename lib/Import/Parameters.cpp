// Undoes what exporters do to the parameters of a model that is to be trained.
//
//   merged       h.0.ln_1.weight ─┬─► ln_1 of layer 0        one initializer of ones for all norms:
//                                 └─► ln_1 of layer 1 ...    split, or they would move as one
//   tied         lm_head.weight ──┬─► wte                    one parameter, under the name that the
//                                 └─► lm_head                signature lists first
//   tied, twice  wte.weight, onnx::MatMul_1236               its transpose, kept apart: one parameter
//   vanished     Gemm(x, w)                                  c_attn.bias was all zeros: restored
//   lost name    MatMul(x, val_152)                          q_proj.weight, transposed
//
// The evidence is the names of what nodes read (ParameterNames.cpp) and the values (TensorValues.cpp). Merges and ties
// look alike; the values tell them apart: random numbers are equal only by a tie, a tensor of one repeated number
// by chance of initialisation. `tie` and `untie` of the spec overrule.
#include "Parameters.h"

#include "ParameterNames.h"
#include "TensorValues.h"
#include "VanishedBiases.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>

using namespace llvm;
using namespace xlc::onnx;

namespace {

/// Reads that are one parameter.
struct Group {
  std::vector<std::string> names; ///< several where they are tied
  std::vector<Read> reads;
};

/// "'a', 'b' and 7 more".
std::string listNames(ArrayRef<std::string> names) {
  constexpr size_t most = 8;
  std::string text;
  for (const std::string &name : names.take_front(most))
    text += (text.empty() ? "'" : ", '") + name + "'";
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

class Planner {
public:
  Planner(Model &model, const BatchNorms &norms, const xlc::Spec &spec, Diagnostics &diagnostics, raw_ostream *notes)
      : model(model), norms(norms), spec(spec), diagnostics(diagnostics), notes(notes), names(model) {}

  ParameterPlan plan() {
    result.isParameter.assign(model.initializers.size(), false);
    reads = names.findReads();
    untied.insert_range(spec.untie);
    joinTwins();
    findMerging();
    for (std::vector<Read> &of : reads) // running averages are told by what reads them, not by names
      llvm::erase_if(of, [&](const Read &read) { return norms.uses.count({read.node, read.input}); });
    for (unsigned i = 0; i < model.initializers.size(); ++i)
      if (llvm::any_of(reads[i], [](const Read &read) { return !read.name.empty() && !read.isPassive; }))
        assign(i);
    restoreBiases();
    nameUnread();
    tieAsAsked();
    sort();
    result.addBuffers(model, norms, diagnostics);
    warnOfFolded(model, norms, accounted, diagnostics);
    warn();
    return std::move(result);
  }

private:
  void note(const Twine &text) {
    if (notes)
      *notes << text << "\n";
  }

  bool hasOneValue(unsigned index) {
    auto [entry, isNew] = uniform.try_emplace(index);
    if (isNew)
      entry->second = findOneValue(model.initializers[index]);
    return entry->second.has_value();
  }

  bool isMatrixOfParameters(unsigned index) const {
    return model.initializers[index].shape.size() == 2 && !reads[index].empty() && !reads[index].front().name.empty();
  }

  /// An initializer without a name of its own that has the values of another one is read as that one.
  void joinTwins() {
    std::vector<unsigned> lost, others;
    for (unsigned i = 0; i < model.initializers.size(); ++i)
      if (isMatrixOfParameters(i))
        (names.isOwnName(model.initializers[i].name) ? others : lost).push_back(i);
    std::vector<std::optional<Twin>> twins = findTwins(model.initializers, lost, others);
    for (auto [index, twin] : llvm::zip(lost, twins)) {
      if (!twin) { // derived from the parameter whose place it takes, and no copy of it: a constant
        if (names.isTransposeOf(model.initializers[index], reads[index].front().name))
          reads[index].clear();
        continue;
      }
      if (untied.contains(reads[index].front().name)) {
        wasUntied.insert(reads[index].front().name);
        continue;
      }
      note("'" + model.initializers[index].name + "' has the values of '" + model.initializers[twin->initializer].name +
           "'" + (twin->isTransposed ? ", transposed" : "") + ": one parameter");
      result.isParameter[index] = true;
      for (Read &read : reads[index]) {
        read.isTransposed = twin->isTransposed;
        reads[twin->initializer].push_back(read);
      }
      reads[index].clear();
    }
  }

  /// Whether the exporter may have merged equal initializers without leaving a trace. Not when it leaves aliases, nor
  /// when it left two initializers that are equal.
  void findMerging() {
    if (names.hasSignature())
      return;
    StringSet<> seen;
    for (unsigned i = 0; i < model.initializers.size(); ++i) {
      if (llvm::any_of(reads[i], [](const Read &read) { return read.isAlias; }))
        return;
      if (reads[i].empty() || reads[i].front().name.empty() || !hasOneValue(i))
        continue;
      std::string key = std::to_string(*uniform[i]) + describeShape(model.initializers[i].shape);
      if (!seen.insert(key).second)
        return;
    }
    mayMerge = true;
  }

  /// What tells the reads of one initializer apart: equal keys are one parameter.
  std::string keyOf(const Read &read, unsigned index) {
    if (read.isPassive)
      return "";
    if (untied.contains(read.name))
      return read.name;
    if (names.hasSignature())
      return hasOneValue(index) ? read.name : "";
    if (read.isAlias && (read.isSibling || hasOneValue(index)))
      return model.nodes[read.node].outputs[0];
    return mayMerge && hasOneValue(index) ? read.place : "";
  }

  std::vector<Group> group(unsigned index) {
    std::vector<Group> groups;
    StringMap<size_t> byKey;
    StringSet<> seen;
    auto add = [&](const Read &read, const std::string &key) {
      auto [entry, isNew] = byKey.try_emplace(key, groups.size());
      if (isNew)
        groups.emplace_back();
      Group &to = groups[entry->second];
      to.reads.push_back(read);
      bool isGuess = mayMerge && !key.empty() && entry->second > 0;
      const std::string &name = isGuess ? read.place : read.name;
      if (seen.insert(key + "\n" + name).second)
        to.names.push_back(name);
    };
    for (bool isAlias : {false, true}) // the initializer's own reads name it
      for (const Read &read : reads[index])
        if (!read.name.empty() && !read.isPassive && read.isAlias == isAlias)
          add(read, keyOf(read, index));
    for (const Read &read : reads[index])
      if (read.isPassive)
        groups.front().reads.push_back(read);
    return groups;
  }

  /// Makes the parameters that initializer `index` stands for.
  void assign(unsigned index) {
    FileTensor &tensor = model.initializers[index];
    if (!checkStoredType(tensor, diagnostics))
      return;
    result.isParameter[index] = true;
    std::vector<Group> groups = group(index);
    if (groups.size() > 1)
      note("'" + tensor.name + "' stands for " + Twine(groups.size()) + " parameters of equal initial value: split");
    for (Group &entry : groups) {
      if (groups.size() == 1)
        addOwnName(entry, index);
      bool isNamed = chooseName(entry, tensor);
      if (groups.size() > 1 && mayMerge)
        guessed.push_back(entry.names.front());
      if (groups.size() > 1 && untied.contains(entry.names.front()))
        wasUntied.insert(entry.names.front());
      addParameter(index, entry, isNamed);
    }
  }

  /// The initializer's own name is one of the parameter's, even if no node says so: it is read in another module, or
  /// by aliases only.
  void addOwnName(Group &entry, unsigned index) {
    const std::string &own = model.initializers[index].name;
    if (!names.isOwnName(own) || llvm::is_contained(entry.names, own) || untied.contains(own))
      return;
    if (names.hasSignature() ? hasOneValue(index) : entry.reads.front().isSibling)
      return;
    if (!names.hasSignature())
      entry.names.clear();
    entry.names.push_back(own);
  }

  /// Puts PyTorch's name in front: the signature's first, the initializer's own, or one that a node gives. Returns
  /// whether the file says that name.
  bool chooseName(Group &entry, const FileTensor &tensor) {
    auto rankOf = [&](const std::string &name) {
      return std::make_pair(names.rank(name), names.hasSignature() || name != tensor.name);
    };
    auto best = llvm::min_element(entry.names,
                                  [&](const std::string &a, const std::string &b) { return rankOf(a) < rankOf(b); });
    std::rotate(entry.names.begin(), best, best + 1);
    for (const std::string &other : ArrayRef(entry.names).drop_front()) {
      result.ties.emplace_back(other, entry.names.front());
      note("'" + other + "' is tied to '" + entry.names.front() + "': one parameter");
      tied.push_back(other);
      if (areSiblings(other, entry.names.front()))
        copies.push_back(other);
      accounted.insert(other);
      tiedFirst.insert(entry.names.front());
    }
    std::string &name = entry.names.front();
    bool isNamed = name == tensor.name || llvm::any_of(entry.reads, [&](const Read &read) {
                     return read.isNamed && (read.name == name || read.place == name);
                   });
    if (!taken.contains(name))
      return isNamed;
    unsigned number = 1; // two lost names that look alike
    while (taken.contains(name + "_" + std::to_string(number)))
      ++number;
    name += "_" + std::to_string(number);
    return false;
  }

  void addParameter(unsigned index, const Group &entry, bool isNamed) {
    const FileTensor &tensor = model.initializers[index];
    const std::string &name = entry.names.front();
    Parameter parameter{name, tensor.shape, (int)index, false};
    // A weight that lost its name was transposed on the way, unless it is a table.
    const Read &first = entry.reads.front();
    bool isLost = !names.isOwnName(tensor.name);
    if (isLost && isNamed && tensor.shape.size() == 2 && model.nodes[first.position].op == "MatMul") {
      std::swap(parameter.shape[0], parameter.shape[1]);
      parameter.isTransposed = true;
    }
    if (isLost)
      note("'" + tensor.name + "' is '" + name + "'" + (parameter.isTransposed ? ", transposed" : ""));
    if (!isNamed)
      nameless.insert(name);
    unsigned position = UINT_MAX;
    for (const Read &read : entry.reads) {
      TensorView view{read.isTransposed != parameter.isTransposed ? std::vector<int64_t>{1, 0} : std::vector<int64_t>(),
                      {}};
      result.uses[{read.node, read.input}] = {(int)result.parameters.size(), view};
      position = std::min(position, read.position);
    }
    accounted.insert(name);
    taken.insert(name);
    positions.push_back(position);
    result.parameters.push_back(std::move(parameter));
  }

  void restoreBiases() {
    for (const VanishedBias &bias : findVanishedBiases(model, names, accounted)) {
      result.vanishedBiases[bias.node] = (int)result.parameters.size();
      result.parameters.push_back({bias.name, {bias.size}, -1, false});
      positions.push_back(bias.node);
      accounted.insert(bias.name), taken.insert(bias.name);
      note("'" + bias.name + "' was dropped because it was zero: restored");
    }
  }

  /// A tied parameter may have been made in a module that never runs, such as a `shared` embedding that encoder and
  /// decoder use as theirs: then the signature lists that name before all others of the tie, and PyTorch calls it so.
  void nameUnread() {
    for (const std::string &name : model.signature.parameters) {
      if (accounted.contains(name))
        continue;
      Parameter *only = nullptr;
      unsigned count = 0;
      for (Parameter &parameter : result.parameters)
        if (tiedFirst.contains(parameter.name) && names.rank(name) < names.rank(parameter.name) &&
            splitName(name).second == splitName(parameter.name).second)
          only = &parameter, ++count;
      if (count != 1)
        continue;
      result.ties.emplace_back(only->name, name);
      note("'" + only->name + "' is tied to '" + name + "': one parameter");
      tied.push_back(only->name);
      only->name = name;
      accounted.insert(name);
    }
  }

  /// The parameter of this name, or a complaint that names the nearest.
  std::optional<int> findParameter(StringRef key, const std::string &name) {
    SmallVector<StringRef> all;
    for (auto [i, parameter] : llvm::enumerate(result.parameters))
      if (parameter.name == name)
        return (int)i;
      else
        all.push_back(parameter.name);
    auto nearest = xlc::findNearest(name, all);
    diagnostics.error(key + " names '" + name + "', which is not a parameter" +
                      (nearest ? "; did you mean '" + nearest->str() + "'?" : ""));
    return std::nullopt;
  }

  void tieAsAsked() {
    for (const std::vector<std::string> &list : spec.tie)
      for (const std::string &name : ArrayRef(list).drop_front()) {
        std::optional<int> first = findParameter("tie", list.front()), other = findParameter("tie", name);
        if (!first || !other || *first == *other)
          continue;
        Parameter &kept = result.parameters[*first], &gone = result.parameters[*other];
        if (kept.shape != gone.shape)
          diagnostics.error("tie needs parameters of one shape; '" + kept.name + "' is " + describeShape(kept.shape) +
                            ", '" + gone.name + "' is " + describeShape(gone.shape));
        else
          replace(*other, *first);
      }
    for (const std::string &name : spec.untie)
      if (!wasUntied.contains(name)) {
        SmallVector<StringRef> all(tied.begin(), tied.end());
        auto nearest = xlc::findNearest(name, all);
        diagnostics.error("untie names '" + name + "', which is tied to nothing" +
                          (nearest ? "; did you mean '" + nearest->str() + "'?" : ""));
      }
  }

  void replace(int from, int to) {
    note("'" + result.parameters[from].name + "' is tied to '" + result.parameters[to].name + "', as the spec asks");
    positions[to] = std::min(positions[to], positions[from]);
    result.readInstead(from, to);
    result.parameters[from].name.clear(); // sort() drops it
  }

  /// The signature's order; without one, the order of use.
  void sort() {
    std::vector<int> sorted;
    for (size_t i = 0; i < result.parameters.size(); ++i)
      if (!result.parameters[i].name.empty())
        sorted.push_back((int)i);
    auto orderOf = [&](int i) { return std::make_tuple(names.rank(result.parameters[i].name), positions[i], i); };
    llvm::sort(sorted, [&](int a, int b) { return orderOf(a) < orderOf(b); });
    result.keep(sorted);
  }

  void warn() {
    std::vector<std::string> missing;
    for (const std::string &name : model.signature.parameters)
      if (!accounted.contains(name))
        missing.push_back(name);
    if (!missing.empty())
      diagnostics.warning(
          "the exporter lists " + Twine(missing.size()) + " of its " + Twine(model.signature.parameters.size()) +
          " parameters that nothing in the graph reads, so that they are not trained: " + listNames(missing) +
          "; the export computed with them once and for all: export with dynamic shapes, in training "
          "form, or with optimize=False");
    std::vector<std::string> madeUp;
    for (const Parameter &parameter : result.parameters)
      if (nameless.contains(parameter.name))
        madeUp.push_back(parameter.name);
    if (!madeUp.empty())
      diagnostics.warning("the file does not name " + Twine(madeUp.size()) + " of its " +
                          Twine(result.parameters.size()) + " parameters; they are called " + listNames(madeUp) +
                          ": torch.onnx.export(..., dynamo=True) leaves their names");
    if (!copies.empty())
      diagnostics.warning("these begin with the random numbers of another layer and are taken as tied to it: " +
                          listNames(copies) + "; where they are copies that go their own ways, say so with untie");
    if (!guessed.empty())
      diagnostics.warning("these begin as one repeated number that the file holds once, and are taken as parameters of "
                          "their own: " +
                          listNames(guessed) + "; where they are one, say so with tie");
  }

  Model &model;
  const BatchNorms &norms;
  const xlc::Spec &spec;
  Diagnostics &diagnostics;
  raw_ostream *notes;
  ParameterNames names;
  ParameterPlan result;
  std::vector<std::vector<Read>> reads; ///< per initializer
  std::vector<unsigned> positions;      ///< per parameter: the first node that reads it
  std::map<unsigned, std::optional<float>> uniform;
  StringSet<> accounted, taken, untied, wasUntied, tiedFirst, nameless;
  std::vector<std::string> guessed, tied, copies;
  bool mayMerge = false;
};

} // namespace

ParameterPlan xlc::onnx::planParameters(Model &model, const BatchNorms &norms, const xlc::Spec &spec,
                                        Diagnostics &diagnostics, raw_ostream *notes) {
  if (model.record)
    return planRecorded(model, norms, spec, diagnostics, notes);
  return Planner(model, norms, spec, diagnostics, notes).plan();
}
