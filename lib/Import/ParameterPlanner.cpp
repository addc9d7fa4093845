// Undoes the exporters' changes to the parameters of a model that is to be trained.
//
//   merged       h.0.ln_1.weight ─┬─► ln_1 of layer 0        one initializer of ones for all norms:
//                                 └─► ln_1 of layer 1 ...    split, or they would move as one
//   tied         lm_head.weight ──┬─► wte                    one parameter, under the name that the
//                                 └─► lm_head                signature lists first
//   tied, twice  wte.weight, onnx::MatMul_1236               its transpose, kept apart: one parameter
//   vanished     Gemm(x, w)                                  c_attn.bias was all zeros: restored
//   lost name    MatMul(x, val_152)                          q_proj.weight, transposed
//
// The evidence is the names of operands (ParameterNames.cpp) and the values (TensorValues.cpp). Merges and ties look
// alike; the values distinguish them: random numbers are equal only by a tie, or in a copied layer, whose name then
// differs in a number only; a tensor of one repeated number is equal to another by chance of initialisation. `tie` and
// `untie` of the spec take precedence.
#include "ParameterPlanner.h"

#include "FoldedConstants.h"
#include "VanishedBiases.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc::onnx;

ParameterPlan ParameterPlanner::plan() {
  result.isParameter.assign(model.initializers.size(), false);
  reads = names.findReads();
  for (auto [tensor, of] : llvm::zip(model.initializers, reads))
    if (tensor.numElements() == 0) // a constant: there is nothing to train
      of.clear();
  dropComputedVectors();
  joinTwins();
  findMerging();
  for (std::vector<Read> &of : reads) // running averages are told by what reads them, not by names
    llvm::erase_if(of, [&](const Read &read) { return norms.uses.count({read.node, read.input}); });
  for (unsigned i = 0; i < model.initializers.size(); ++i)
    if (llvm::any_of(reads[i], [](const Read &read) { return !read.name.empty() && !read.isPassive; }))
      assign(i);
  restoreBiases();
  result.findConstants(model, norms);
  ties.nameUnread(FoldedParameters(model, names, result));
  ties.tieAsAsked(positions);
  sort();
  result.addBuffers(model, norms, diagnostics);
  LostParameters lost(model, norms, spec, names, reads, diagnostics, notes.stream);
  lost.reportLost(result, ties.accounted());
  lost.reportMerged();
  lost.reportComputed(result, values);
  lost.warn(result, weak, ties);
  return std::move(result);
}

bool ParameterPlanner::isMatrixOfParameters(unsigned index) const {
  return model.initializers[index].shape.size() == 2 && !reads[index].empty() && !reads[index].front().name.empty();
}

/// Whether an initializer is a matrix that is called like a transpose in PyTorch, and no call says of what.
bool ParameterPlanner::isTransposeOfUnknown(unsigned index) const {
  const FileTensor &tensor = model.initializers[index];
  return names.hasSignature() && tensor.shape.size() == 2 && isNamedAsTranspose(tensor.name) && !reads[index].empty() &&
         llvm::all_of(reads[index], [](const Read &read) { return read.name.empty(); });
}

/// A vector that lost its name may be a parameter with further dimensions, or computed from one that kept it: the
/// values tell.
void ParameterPlanner::dropComputedVectors() {
  InitializerValues elements(model);
  auto isNamed = [&](unsigned i) {
    return names.isOwnName(model.initializers[i].name) && !reads[i].empty() && !reads[i].front().name.empty();
  };
  for (unsigned i = 0; i < model.initializers.size(); ++i) {
    bool isVector = llvm::any_of(reads[i], [](const Read &read) { return read.isVector; });
    for (unsigned other = 0; isVector && !values.has(i) && other < model.initializers.size(); ++other)
      if (other != i && isNamed(other) && isComputedFrom(elements[i], elements[other])) {
        for (Read &read : reads[i])
          read.name.clear(), read.isVector = false, read.isComputed = true;
        break;
      }
  }
}

/// An initializer without a name of its own that has the values of another one is read as that one.
void ParameterPlanner::joinTwins() {
  std::vector<unsigned> lost, others;
  for (unsigned i = 0; i < model.initializers.size(); ++i)
    if (isMatrixOfParameters(i))
      (names.isOwnName(model.initializers[i].name) ? others : lost).push_back(i);
    else if (isTransposeOfUnknown(i))
      lost.push_back(i);
  std::vector<std::optional<Twin>> twins = findTwins(model.initializers, lost, others);
  for (auto [index, twin] : llvm::zip(lost, twins)) {
    if (!twin) { // derived from the parameter whose place it takes, and no copy of it: a constant
      if (names.isTransposeOf(model.initializers[index], reads[index].front().name))
        reads[index].clear();
      continue;
    }
    for (Read &read : reads[index])
      if (read.name.empty() && !reads[twin->initializer].empty()) {
        const Read &other = reads[twin->initializer].front();
        read.name = other.name, read.isTraced = other.isTraced;
      }
    if (staysApart(index, *twin))
      continue;
    notes("'" + model.initializers[index].name + "' has the values of '" + model.initializers[twin->initializer].name +
          "'" + (twin->isTransposed ? ", transposed" : "") + ": treated as one parameter");
    result.isParameter[index] = true;
    for (Read &read : reads[index]) {
      read.isTransposed = twin->isTransposed;
      reads[twin->initializer].push_back(read);
    }
    reads[index].clear();
  }
}

/// Whether an initializer is a parameter of its own though it has the values of another one: where the spec says so,
/// where the calls in PyTorch read them by two names, and where the names are those of layers that are copies.
bool ParameterPlanner::staysApart(unsigned index, const Twin &twin) {
  if (reads[twin.initializer].empty()) // which was found to be derived from a parameter: so is this one
    return reads[index].clear(), true;
  const Read &read = reads[index].front(), &other = reads[twin.initializer].front();
  bool isUntied = ties.isUntied(read.name), isCopy = areSiblings(read.name, other.name);
  if (isUntied)
    ties.useUntie(read.name);
  if (isCopy && !isUntied && !(read.isTraced && other.isTraced))
    weak.copies.push_back(read.name);
  return isUntied || isCopy || (read.isTraced && other.isTraced && read.name != other.name);
}

/// Whether the exporter may have merged equal initializers without leaving a trace. Not when it leaves aliases, nor
/// when it left two initializers that are equal.
void ParameterPlanner::findMerging() {
  if (names.hasSignature())
    return;
  StringSet<> seen;
  for (unsigned i = 0; i < model.initializers.size(); ++i) {
    if (llvm::any_of(reads[i], [](const Read &read) { return read.isAlias; }))
      return;
    if (reads[i].empty() || reads[i].front().name.empty() || !values.has(i))
      continue;
    std::string key = std::to_string(*values.find(i)) + describeShape(model.initializers[i].shape);
    if (!seen.insert(key).second)
      return;
  }
  mayMerge = true;
}

/// What tells the reads of one initializer apart: equal keys are one parameter.
std::string ParameterPlanner::keyOf(const Read &read, unsigned index) {
  if (read.isPassive)
    return "";
  if (ties.isUntied(read.name))
    return read.name;
  auto isNaming = [](const Read &at) { return !at.name.empty() && !at.isPassive; };
  auto own = llvm::find_if(reads[index], [&](const Read &at) { return isNaming(at) && !at.isAlias; });
  const Read &first = own == reads[index].end() ? *llvm::find_if(reads[index], isNaming) : *own;
  std::string lead = names.isOwnName(model.initializers[index].name) ? model.initializers[index].name : first.name;
  if (names.hasSignature())
    return values.has(index) || read.isTraced || areSiblings(read.name, lead) ? read.name : "";
  if (read.isAlias && (read.isSibling || values.has(index) || areSiblings(read.name, lead)))
    return names.isOwnName(model.nodes[read.node].outputs[0]) || values.has(index) ? model.nodes[read.node].outputs[0]
                                                                                   : read.name;
  // The module that has the parameter may read it often; another one's is another parameter.
  bool isOwn = names.isOwnName(lead) && splitName(lead).first == model.nodes[read.position].scope;
  return mayMerge && values.has(index) && !isOwn ? read.place : "";
}

std::vector<ParameterReads> ParameterPlanner::group(unsigned index) {
  std::vector<ParameterReads> groups;
  StringMap<size_t> byKey;
  StringSet<> seen;
  auto add = [&](const Read &read, const std::string &key) {
    auto [entry, isNew] = byKey.try_emplace(key, groups.size());
    if (isNew)
      groups.emplace_back();
    ParameterReads &to = groups[entry->second];
    to.reads.push_back(read);
    bool isGuess = mayMerge && !key.empty() && entry->second > 0;
    const std::string &name = isGuess ? read.place : read.name;
    for (const std::string &each : {name, ties.accounted().contains(read.tie) ? std::string() : read.tie})
      if (!each.empty() && seen.insert(key + "\n" + each).second)
        to.names.push_back(each);
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
void ParameterPlanner::assign(unsigned index) {
  FileTensor &tensor = model.initializers[index];
  if (!checkStoredType(tensor, diagnostics))
    return;
  result.isParameter[index] = true;
  std::vector<ParameterReads> groups = group(index);
  if (groups.size() > 1)
    notes("'" + tensor.name + "' holds " + Twine(groups.size()) +
          " parameters with equal initial values; they are separated");
  for (ParameterReads &entry : groups) {
    if (groups.size() == 1)
      addOwnName(entry, index);
    bool isNamed = ties.chooseName(entry, tensor);
    const std::string &name = entry.names.front();
    std::string guess = entry.reads.front().guess;
    if (groups.size() > 1 && mayMerge) {
      weak.guessed.push_back(name);
      guess = "the file holds its initial value once, and several nodes read it";
    } else if (&entry != &groups.front() && !values.has(index) && !entry.reads.front().isTraced &&
               !ties.isUntied(name)) {
      weak.copies.push_back(name);
      guess = "it has the initial values of another layer, like a copy";
    }
    if (groups.size() > 1 && ties.isUntied(name))
      ties.useUntie(name);
    addParameter(index, entry, isNamed, std::move(guess));
  }
}

/// The initializer's own name is one of the parameter's, even if no node says so: it is read in another module, or
/// by aliases only.
void ParameterPlanner::addOwnName(ParameterReads &entry, unsigned index) {
  const std::string &own = model.initializers[index].name;
  if (!names.isOwnName(own) || llvm::is_contained(entry.names, own) || ties.isUntied(own))
    return;
  const Read &read = entry.reads.front();
  if (names.hasSignature() && (read.isTraced || areSiblings(own, read.name)))
    return;
  if (names.hasSignature() ? values.has(index) : entry.reads.front().isSibling)
    return;
  if (!names.hasSignature())
    entry.names.clear();
  entry.names.push_back(own);
}

void ParameterPlanner::addParameter(unsigned index, const ParameterReads &entry, bool isNamed, std::string guess) {
  const FileTensor &tensor = model.initializers[index];
  const std::string &name = entry.names.front();
  Parameter parameter;
  parameter.name = name, parameter.shape = tensor.shape, parameter.initializer = (int)index;
  parameter.guess = std::move(guess);
  // A weight that lost its name was transposed on the way, unless it is a table.
  const Read &first = entry.reads.front();
  bool isLost = !names.isOwnName(tensor.name);
  if (isLost && isNamed && tensor.shape.size() == 2 && model.nodes[first.position].op == "MatMul") {
    std::swap(parameter.shape[0], parameter.shape[1]);
    parameter.isTransposed = true;
  }
  if (first.isVector)
    parameter.shape = {tensor.numElements()};
  if (isLost)
    notes("'" + tensor.name + "' is '" + name + "'" + (parameter.isTransposed ? ", transposed" : ""));
  if (!isNamed || first.mayBeComputed)
    weak.nameless.insert(name);
  unsigned position = UINT_MAX;
  for (const Read &read : entry.reads) {
    TensorView view;
    if (read.isTransposed != parameter.isTransposed)
      view.permutation = {1, 0};
    if (first.isVector) { // a transpose has its elements in the same order
      view.shape = tensor.shape;
      if (!view.permutation.empty())
        view.permutation.clear(), std::swap(view.shape[0], view.shape[1]);
    }
    result.uses[{read.node, read.input}] = {(int)result.parameters.size(), view};
    position = std::min(position, read.position);
  }
  ties.take(name);
  positions.push_back(position);
  result.parameters.push_back(std::move(parameter));
}

void ParameterPlanner::restoreBiases() {
  auto nameOf = [&](unsigned node, unsigned input) {
    auto use = result.uses.find({node, input});
    return use == result.uses.end() ? StringRef() : StringRef(result.parameters[use->second.parameter].name);
  };
  for (const VanishedBias &bias : findVanishedBiases(model, names, ties.accounted(), nameOf)) {
    result.vanishedBiases[bias.node] = (int)result.parameters.size();
    Parameter &parameter = result.parameters.emplace_back();
    parameter.name = bias.name, parameter.shape = {bias.size};
    positions.push_back(bias.node);
    ties.take(bias.name);
    notes("'" + bias.name + "' was dropped because it was zero, and is restored");
  }
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

ParameterPlan xlc::onnx::inferParameters(Model &model, const BatchNorms &norms, const xlc::Spec &spec,
                                         FileDiagnostics &diagnostics, raw_ostream *notes) {
  return ParameterPlanner(model, norms, spec, diagnostics, notes).plan();
}
