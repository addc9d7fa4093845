// Determines which tensors of a state dict are one parameter: entries of equal random numbers, except those of sibling
// layers, which begin as copies of one another, and those that the file stores separately, each under its own name. The
// export's record and the spec take precedence over values.
#ifndef XLC_IMPORT_STATETIES_H
#define XLC_IMPORT_STATETIES_H

#include "StateEntry.h"

namespace xlc::onnx {

/// Entries by (count, unordered) of their contents.
using EntriesByContent = std::map<std::pair<int64_t, uint64_t>, std::vector<int>>;

class StateTies {
public:
  /// `byName`: entries as the model calls them.
  StateTies(std::vector<StateEntry> &entries, const llvm::StringMap<int> &byName, const Model &model,
            const ParameterNames &names, const Spec &spec, FileDiagnostics &diagnostics)
      : entries(entries), byName(byName), model(model), names(names), spec(spec), diagnostics(diagnostics) {}

  /// Sets `tied` of all entries; false after an error.
  bool find(const EntriesByContent &byContent);
  /// The entry of a parameter of the file's record, under any of its names; -1: none.
  int findRecorded(const ExportRecord::Tensor &recorded) const;

private:
  void tieAsRecorded();
  void tieEqual(const EntriesByContent &byContent);
  bool tieAsAsked();

  std::vector<StateEntry> &entries;
  const llvm::StringMap<int> &byName;
  const Model &model;
  const ParameterNames &names;
  const Spec &spec;
  FileDiagnostics &diagnostics;
};

} // namespace xlc::onnx

#endif
