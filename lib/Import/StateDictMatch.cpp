// Determines by the bits of the values whether a state dict is that of the exported module:
//
//   all of its tensors are in the file    it is authoritative: all changes of the exporter are undone by values
//   none                                  a checkpoint of another training: names and shapes are matched
//   some                                  neither: an error that names the missing ones
//
// Values that are common at initialisation (ones, zeros) are no evidence and are not counted. Neither are frozen
// tensors, which another training may share.
#include "StateDictMatch.h"

#include "ConstantTensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace llvm;
using namespace xlc;
using namespace xlc::onnx;

/// The elements of an initializer of floats that is loaded.
static ArrayRef<float> elementsOf(const FileTensor &tensor) {
  return {reinterpret_cast<const float *>(tensor.bytes.data()), tensor.bytes.size() / sizeof(float)};
}

StateDictMatch::StateDictMatch(Model &model, const StateDict &dict, const ParameterNames &names, const Spec &spec,
                               FileDiagnostics &diagnostics)
    : model(model), dict(dict), names(names), spec(spec), diagnostics(diagnostics),
      ties(entries, byName, model, names, spec, diagnostics) {}

bool StateDictMatch::compare(const StringSet<> &buffers) {
  StatePrefix prefix(model, dict, names, buffers);
  findStoredTypes(prefix);
  return readEntries(prefix, buffers) && checkNames() && readInitializers() && ties.find(byContent) && decide();
}

/// Where the exporter lists all names, one that it does not list is of another module.
bool StateDictMatch::checkNames() {
  std::vector<std::string> strangers;
  StringSet<> known = findKnownNames(model, names);
  for (const StateEntry &entry : entries)
    if (names.hasSignature() && !known.contains(entry.called) && !entry.isBuffer && !entry.isFrozen)
      strangers.push_back("'" + entry.name() + "'");
  if (strangers.empty())
    return true;
  diagnostics.error("the exported module does not have " + Twine(strangers.size()) + " of the " +
                    Twine(entries.size()) + " tensors of the state dict '" + dict.path() + "': " + listSome(strangers) +
                    "; use the state dict of that module (a common prefix of all names may differ)");
  return false;
}

/// `model.double()` exports parameters that are read as float32, which is what the state dict is compared with.
void StateDictMatch::findStoredTypes(const StatePrefix &prefix) {
  StringSet<> called;
  for (const StateTensor &tensor : dict.tensors())
    called.insert(prefix.callInModel(tensor.name));
  std::map<int, int64_t> elements;
  bool isDouble = false;
  for (const FileTensor &tensor : model.initializers) {
    if (!isFloat(tensor.type))
      continue;
    storedTypes[tensor.name] = tensor.storedType;
    elements[tensor.storedType] += tensor.numElements();
    isDouble |= tensor.type == ElementType::Double && called.contains(tensor.name);
  }
  commonType = elements.empty() ? 1 : llvm::max_element(elements, llvm::less_second())->first;
  if (isDouble)
    for (FileTensor &tensor : model.initializers)
      tensor.narrow();
}

bool StateDictMatch::read(const StateEntry &entry, std::vector<float> &elements) {
  if (!dict.read(*entry.tensor, elements, diagnostics))
    return false;
  roundTo(entry.storedType, elements);
  return true;
}

bool StateDictMatch::readEntries(const StatePrefix &prefix, const StringSet<> &buffers) {
  std::vector<float> elements;
  std::set<std::string> converted;
  for (const StateTensor &tensor : dict.tensors()) {
    std::string called = prefix.callInModel(tensor.name);
    if (!tensor.isFloat())
      continue; // whole numbers: counters, masks
    if (tensor.type != "F32")
      converted.insert(tensor.type);
    if (!dict.read(tensor, elements, diagnostics))
      return false;
    StateEntry entry;
    entry.tensor = &tensor, entry.called = called;
    auto stored = storedTypes.find(called);
    entry.storedType = stored == storedTypes.end() ? commonType : stored->second;
    entry.ownContent = digest(elements);
    roundTo(entry.storedType, elements);
    entry.content = isHalf(entry.storedType) ? digest(elements) : entry.ownContent;
    entry.tied = (int)entries.size(), entry.isBuffer = buffers.contains(called);
    entry.isFrozen = !matchesPatterns(tensor.name, spec.trainable);
    byName[called] = (int)entries.size();
    byContent[{entry.content.count, entry.content.unordered}].push_back((int)entries.size());
    entries.push_back(std::move(entry));
  }
  if (!converted.empty())
    diagnostics.note("the state dict '" + dict.path() + "' holds " + llvm::join(converted, " and ") +
                     ": read as float32");
  return true;
}

bool StateDictMatch::readInitializers() {
  contents.resize(model.initializers.size());
  like.resize(model.initializers.size());
  for (auto [i, tensor] : llvm::enumerate(model.initializers)) {
    if (auto named = byName.find(tensor.name); named != byName.end())
      entries[named->second].own = (int)i;
    if (tensor.type != ElementType::Float || tensor.isAbsent)
      continue;
    if (!tensor.load()) {
      diagnostics.error("initializer '" + tensor.name + "' cannot be read from '" + tensor.file + "'");
      return false;
    }
    contents[i] = digest(elementsOf(tensor));
    tensor.unload();
    std::vector<unsigned> &alike = holders[{contents[i]->count, contents[i]->unordered}];
    mayBeMerged &= llvm::none_of(alike, [&](unsigned other) {
      return *contents[other] == *contents[i] && model.initializers[other].shape == tensor.shape;
    });
    alike.push_back((unsigned)i);
  }
  return true;
}

/// Whether PyTorch gave this name: the signature or the state dict has it, or it looks so.
bool StateDictMatch::isNamed(unsigned index) const {
  const std::string &name = model.initializers[index].name;
  return byName.contains(name) || names.isOwnName(name);
}

bool StateDictMatch::fits(int entry, unsigned index) const {
  const StateEntry &of = entries[entry];
  return model.initializers[index].shape == of.shape() &&
         (!isSame || !contents[index] || of.content == *contents[index]);
}

bool StateDictMatch::isView(int entry, unsigned index, const TensorView &view) {
  const StateEntry &of = entries[entry];
  if (view.permutation.empty())
    return of.content == *contents[index];
  if (of.content.isUniform)
    return true;
  std::vector<float> elements;
  FileTensor &tensor = model.initializers[index];
  if (!read(of, elements) || !tensor.load())
    return false;
  bool isEqual = isEqualView(elements, of.shape(), view, elementsOf(tensor));
  tensor.unload();
  return isEqual;
}

SmallVector<TensorView> StateDictMatch::findViewsOf(int entry, unsigned index) {
  const StateEntry &of = entries[entry];
  const std::vector<int64_t> &shape = model.initializers[index].shape;
  bool compares = isSame && contents[index];
  if (of.isBuffer || (compares && !of.content.hasSameElements(*contents[index])))
    return {};
  // A name means that nothing was moved; a name that was lost, that something was.
  bool isOwn = of.own == (int)index, mayBeWhole = isNamed(index) || (compares && !of.content.isUniform);
  SmallVector<TensorView> views = findViews(of.shape(), shape, compares && !of.content.isUniform && !isOwn);
  llvm::erase_if(views, [&](const TensorView &view) {
    if (!view.isWhole() && (isOwn || (isNamed(index) && !compares)))
      return true;
    return compares && !isView(entry, index, view);
  });
  if (views.size() == 1 && views.front().isWhole() && !mayBeWhole)
    views.clear();
  if (isNamed(index) && !views.empty() && views.front().isWhole())
    views.truncate(1);
  return views;
}

const std::vector<int> &StateDictMatch::entriesLike(unsigned index) {
  if (like[index])
    return *like[index];
  std::vector<int> &found = like[index].emplace();
  auto consider = [&](int e) {
    if (!findViewsOf(e, index).empty())
      found.push_back(e);
  };
  if (!isSame || !contents[index])
    llvm::for_each(llvm::seq<int>(0, (int)entries.size()), consider);
  else if (auto alike = byContent.find({contents[index]->count, contents[index]->unordered}); alike != byContent.end())
    llvm::for_each(alike->second, consider);
  return found;
}

std::optional<std::pair<int, TensorView>> StateDictMatch::findTwin(unsigned index) {
  FileTensor &tensor = model.initializers[index];
  if (isSame || isNamed(index) || !contents[index] || contents[index]->isUniform || !tensor.load())
    return std::nullopt;
  std::optional<std::pair<int, TensorView>> twin;
  for (unsigned other : holders[{contents[index]->count, contents[index]->unordered}]) {
    FileTensor &original = model.initializers[other];
    auto named = byName.find(original.name);
    if (twin || other == index || named == byName.end() || entries[named->second].shape() != original.shape ||
        !original.load())
      continue;
    for (const TensorView &view : findViews(original.shape, tensor.shape, false))
      if (!twin && isEqualView(elementsOf(original), original.shape, view, elementsOf(tensor)))
        twin = {named->second, view};
    original.unload();
  }
  tensor.unload();
  return twin;
}

bool StateDictMatch::isFound(int entry) {
  const TensorContent &content = entries[entry].content;
  auto held = holders.find({content.count, content.unordered});
  return held != holders.end() &&
         llvm::any_of(held->second, [&](unsigned index) { return !findViewsOf(entry, index).empty(); });
}

/// Whether an initializer of which only the shape is known could be it.
bool StateDictMatch::mayBeAbsent(int entry) const {
  return llvm::any_of(model.initializers, [&](const FileTensor &tensor) {
    return tensor.isAbsent && !findViews(entries[entry].shape(), tensor.shape, false).empty();
  });
}

bool StateDictMatch::decide() {
  std::vector<int> missing;
  for (int e = 0; e < (int)entries.size(); ++e) {
    const StateEntry &entry = entries[e];
    if (entry.content.isUniform || entry.isBuffer || entry.isFrozen)
      continue;
    if (isFound(e))
      ++numSame;
    else if (!mayBeAbsent(e))
      missing.push_back(e);
  }
  bool hasValues = llvm::any_of(contents, [](const auto &content) { return content && !content->isUniform; });
  if (numSame > 0 && !missing.empty())
    return complainOfSome(missing, numSame), false;
  isSame = missing.empty() && hasValues;
  if (!isSame)
    like.assign(like.size(), std::nullopt);
  return true;
}

std::string StateDictMatch::explain(int e) {
  const StateEntry &entry = entries[e];
  if (entry.own >= 0) {
    const FileTensor &tensor = model.initializers[entry.own];
    if (tensor.shape != entry.shape())
      return "has shape " + describeShape(entry.shape()) + ", but shape " + describeShape(tensor.shape) +
             " in the model";
    const std::optional<TensorContent> &content = contents[entry.own];
    if (!isSame || !content || entry.content == *content)
      return "is not used";
    for (const TensorView &view : findViews(entry.shape(), tensor.shape, false))
      if (!view.permutation.empty() && entry.content.hasSameElements(*content) && isView(e, (unsigned)entry.own, view))
        return entry.shape().size() == 2 ? "is the transpose of the tensor in the model"
                                         : "is a permutation of the tensor in the model";
    return "has different values in the model";
  }
  return !isSame || entry.content.isUniform ? "is not used" : "has values that do not occur in the model";
}

void StateDictMatch::complainOfSome(ArrayRef<int> missing, size_t numFound) {
  std::vector<std::string> items;
  for (int e : missing)
    items.push_back("'" + entries[e].name() + "' " + explain(e));
  diagnostics.error(
      "the state dict '" + dict.path() +
      "' belongs neither to the exported module nor to another training run of it: the values of " + Twine(numFound) +
      " of its tensors are in the model, those of " + Twine(missing.size()) + " are not: " + listSome(items) +
      "; save the state dict at export; if the exporter folded the tensors into constants, " + adviseExport(model));
}

std::string xlc::onnx::listSome(ArrayRef<std::string> items) {
  constexpr size_t most = 3;
  std::string text = llvm::join(items.take_front(most), ", ");
  return items.size() > most ? text + " and " + std::to_string(items.size() - most) + " more" : text;
}
