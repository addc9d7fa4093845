// Matches the tensors of a state dict with the initializers of a model. See StateDictMatch.cpp.
#ifndef XLC_IMPORT_STATEDICTMATCH_H
#define XLC_IMPORT_STATEDICTMATCH_H

#include "StateTies.h"

namespace xlc::onnx {

class StateDictMatch {
public:
  StateDictMatch(Model &model, const StateDict &dict, const ParameterNames &names, const Spec &spec,
                 FileDiagnostics &diagnostics);

  /// Reads all values, finds ties and decides; false after an error. `buffers`: further names of buffers.
  bool compare(const llvm::StringSet<> &buffers);

  std::vector<StateEntry> entries;
  llvm::StringMap<int> byName; ///< as the model calls them
  /// The values of the file are those of the state dict; otherwise they are of another training, and only names and
  /// shapes are compared.
  bool isSame = true;
  unsigned numSame = 0; ///< entries that were found by their values

  /// The views of `entry` that may equal initializer `index`: none if it differs; more than one if only the values,
  /// which are of another training, could distinguish them.
  llvm::SmallVector<TensorView> findViewsOf(int entry, unsigned index);
  /// The entries that may equal an initializer.
  const std::vector<int> &entriesLike(unsigned index);
  /// Whether an initializer's values are those of the state dict, and more than one number.
  bool isTelling(unsigned index) const { return isSame && contents[index] && !contents[index]->isUniform; }
  /// Whether an initializer's values are not one repeated number, so that no other is equal by chance.
  bool isUnique(unsigned index) const { return !contents[index] || !contents[index]->isUniform; }
  /// For another training: the entry whose name belongs to an initializer with the same values, and the view of it.
  std::optional<std::pair<int, TensorView>> findTwin(unsigned index);
  /// The exporter may have merged equal initializers: no two are equal.
  bool mayBeMerged = true;
  /// The entry of a parameter of the file's record, under any of its names; -1: none.
  int findRecorded(const ExportRecord::Tensor &recorded) const { return ties.findRecorded(recorded); }
  /// Whether an initializer has the entry's shape and, of the same training, its values.
  bool fits(int entry, unsigned index) const;
  /// The reason why `entry` is not found, as a few words that follow its name.
  std::string explain(int entry);
  /// Whether the initializer has a name that PyTorch gave.
  bool isNamed(unsigned index) const;

private:
  bool checkNames();
  /// The entry's elements in the type that the file stores.
  bool read(const StateEntry &entry, std::vector<float> &elements);
  bool readEntries(const StatePrefix &prefix, const llvm::StringSet<> &buffers);
  void findStoredTypes(const StatePrefix &prefix);
  bool readInitializers();
  bool decide();
  bool isFound(int entry);
  bool mayBeAbsent(int entry) const;
  bool isView(int entry, unsigned index, const TensorView &view);
  void complainOfSome(llvm::ArrayRef<int> missing, size_t numFound);

  Model &model;
  const StateDict &dict;
  const ParameterNames &names;
  const Spec &spec;
  FileDiagnostics &diagnostics;
  StateTies ties;
  std::vector<std::optional<TensorContent>> contents; ///< per initializer; none: absent, or no floats
  EntriesByContent byContent;
  std::map<std::pair<int64_t, uint64_t>, std::vector<unsigned>> holders; ///< (count, unordered) -> initializers
  std::vector<std::optional<std::vector<int>>> like;
  llvm::StringMap<int> storedTypes; ///< of float initializers, by name
  int commonType = 1;               ///< that of most of them
};

/// "'a' and 2 more" for items with a problem, each with its reason: "'a' (why), 'b' (why), 'c' (why) and 4 more".
std::string listSome(llvm::ArrayRef<std::string> items);

} // namespace xlc::onnx

#endif
