// The one class that plans parameters. Its steps stand in three files: ParameterPlanner.cpp finds out what each
// initializer stands for, ParameterTies.cpp which names are one parameter, LostParameters.cpp what cannot be trained as
// PyTorch does.
#ifndef XLC_IMPORT_PARAMETERPLANNER_H
#define XLC_IMPORT_PARAMETERPLANNER_H

#include "ParameterNames.h"
#include "Parameters.h"
#include "TensorValues.h"

namespace xlc::onnx {

class ParameterPlanner {
public:
  ParameterPlanner(Model &model, const BatchNorms &norms, const Spec &spec, FileDiagnostics &diagnostics,
                   llvm::raw_ostream *notes)
      : model(model), norms(norms), spec(spec), diagnostics(diagnostics), notes(notes), names(model) {}

  ParameterPlan plan();

private:
  /// Reads that are one parameter.
  struct Group {
    std::vector<std::string> names; ///< several where they are tied
    std::vector<Read> reads;
  };

  void note(const llvm::Twine &text) {
    if (notes)
      *notes << text << "\n";
  }
  bool hasOneValue(unsigned index);

  // ParameterPlanner.cpp
  bool isMatrixOfParameters(unsigned index) const;
  bool isTransposeOfUnknown(unsigned index) const;
  void dropComputedVectors();
  void joinTwins();
  bool staysApart(unsigned index, const Twin &twin);
  void findMerging();
  std::string keyOf(const Read &read, unsigned index);
  std::vector<Group> group(unsigned index);
  void assign(unsigned index);
  void addOwnName(Group &entry, unsigned index);
  void addParameter(unsigned index, const Group &entry, bool isNamed, std::string guess);
  void restoreBiases();

  // ParameterTies.cpp
  bool chooseName(Group &entry, const FileTensor &tensor);
  void tie(const std::string &other, const std::string &name);
  void nameUnread();
  Parameter *findTied(const std::string &name);
  std::optional<int> findParameter(llvm::StringRef key, const std::string &name);
  void tieAsAsked();
  void replace(int from, int to);
  void sort();

  // LostParameters.cpp
  const FileTensor *findFolded(llvm::StringRef name) const;
  bool isMadeOfNothing(llvm::StringRef constant) const;
  bool isComplete() const;
  void reportLost();
  void reportMerged();
  void reportComputed();
  void warn();

  Model &model;
  const BatchNorms &norms;
  const Spec &spec;
  FileDiagnostics &diagnostics;
  llvm::raw_ostream *notes;
  ParameterNames names;
  ParameterPlan result;
  std::vector<std::vector<Read>> reads; ///< per initializer
  std::vector<unsigned> positions;      ///< per parameter: the first node that reads it
  std::map<unsigned, std::optional<float>> uniform;
  llvm::StringSet<> accounted, taken, untied, wasUntied, tiedFirst, nameless;
  std::vector<std::string> guessed, tied, copies;
  std::vector<std::pair<std::string, std::string>>
      doubtful; ///< ties of different leaf names: a name, and the parameter's
  bool mayMerge = false;
};

} // namespace xlc::onnx

#endif
