// Which names are one parameter: those that the evidence ties, and those that the spec ties or unties. PyTorch calls a
// tied parameter by the name that it lists first.
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
  /// `plan` gets the ties, and may get a parameter of another name.
  ParameterTies(const Model &model, const Spec &spec, const ParameterNames &names, ParameterPlan &plan,
                FileDiagnostics &diagnostics, llvm::raw_ostream *notes)
      : model(model), spec(spec), names(names), plan(plan), diagnostics(diagnostics), notes(notes) {
    untied.insert_range(spec.untie);
  }

  /// Whether the spec says that the name is a parameter of its own.
  bool isUntied(llvm::StringRef name) const { return untied.contains(name); }
  /// That it is one though it has the values of another.
  void useUntie(llvm::StringRef name) { wasUntied.insert(name); }

  /// Puts PyTorch's name in front: the signature's first, the initializer's own, or one that a node gives. Returns
  /// whether the file says that name.
  bool chooseName(ParameterReads &entry, const FileTensor &tensor);
  /// There is a parameter of this name.
  void take(llvm::StringRef name) { named.insert(name), taken.insert(name); }
  /// Names that are those of parameters or tied to them.
  const llvm::StringSet<> &accounted() const { return named; }

  /// A tied parameter may have been made in a module that never runs, such as a `shared` embedding that encoder and
  /// decoder use as theirs: then the signature lists that name before all others of the tie, and PyTorch calls it so.
  void nameUnread(const FoldedParameters &folded);
  /// As the spec asks. Of parameters that become one, `positions` gets the first.
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
