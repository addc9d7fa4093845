// Determines which names are one parameter: those that the evidence ties, and those that the spec ties or unties.
// PyTorch's name of a tied parameter is the first in its list.
#ifndef XLC_IMPORT_PARAMETERTIES_H
#define XLC_IMPORT_PARAMETERTIES_H

#include "FoldedParameters.h"
#include "ParameterNames.h"
#include "Parameters.h"

namespace xlc::onnx {

/// Reads that are one parameter.
struct ParameterReads {
  std::vector<std::string> names; ///< several where they are tied
  std::vector<Read> reads;
};

class ParameterTies {
public:
  /// Adds the ties to `plan`, and possibly a parameter of another name.
  ParameterTies(const Model &model, const Spec &spec, const ParameterNames &names, ParameterPlan &plan,
                FileDiagnostics &diagnostics, llvm::raw_ostream *notes)
      : model(model), spec(spec), names(names), plan(plan), diagnostics(diagnostics), notes(notes) {
    untied.insert_range(spec.untie);
  }

  /// Whether the spec makes the name a parameter of its own.
  bool isUntied(llvm::StringRef name) const { return untied.contains(name); }
  /// Records that the untie was needed, since the parameter has the values of another.
  void useUntie(llvm::StringRef name) { wasUntied.insert(name); }

  /// Puts PyTorch's name first: the signature's first, the initializer's own, or one that a node gives. Returns whether
  /// the file contains that name.
  bool chooseName(ParameterReads &entry, const FileTensor &tensor);
  /// Records that there is a parameter of this name.
  void take(llvm::StringRef name) { named.insert(name), taken.insert(name); }
  /// Names of parameters, or tied to them.
  const llvm::StringSet<> &accounted() const { return named; }

  /// A tied parameter may have been created in a module that never runs, such as a `shared` embedding that encoder and
  /// decoder use as theirs: then the signature lists that name before all others of the tie, and it is PyTorch's name.
  void nameUnread(const FoldedParameters &folded);
  /// Ties as the spec requests. If parameters become one, `positions` receives the first.
  void tieAsAsked(std::vector<unsigned> &positions);
  /// Ties of different leaf names: a name, and the parameter's.
  llvm::ArrayRef<std::pair<std::string, std::string>> getDoubtful() const { return doubtful; }

private:
  void tie(const std::string &other, const std::string &name);
  Parameter *findTied(const std::string &name, const FoldedParameters &folded);
  std::optional<int> findParameter(llvm::StringRef key, const std::string &name);
  void replace(int from, int to, std::vector<unsigned> &positions);

  const Model &model;
  const Spec &spec;
  const ParameterNames &names;
  ParameterPlan &plan;
  FileDiagnostics &diagnostics;
  const Notes notes;
  llvm::StringSet<> named, taken, untied, wasUntied, tiedFirst;
  std::vector<std::string> tied;
  std::vector<std::pair<std::string, std::string>> doubtful;
};

} // namespace xlc::onnx

#endif
