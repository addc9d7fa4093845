// Determines the parameter of each initializer. ParameterTies.h determines which names are one parameter;
// LostParameters.h reports parameters that cannot be trained as in PyTorch.
#ifndef XLC_IMPORT_PARAMETERPLANNER_H
#define XLC_IMPORT_PARAMETERPLANNER_H

#include "LostParameters.h"
#include "ParameterNames.h"
#include "ParameterTies.h"
#include "Parameters.h"
#include "TensorValues.h"

namespace xlc::onnx {

class ParameterPlanner {
public:
  ParameterPlanner(Model &model, const BatchNorms &norms, const Spec &spec, FileDiagnostics &diagnostics,
                   llvm::raw_ostream *notes)
      : model(model), norms(norms), spec(spec), diagnostics(diagnostics), notes(notes), names(model),
        ties(model, spec, names, result, diagnostics, notes), values(model.initializers) {}

  ParameterPlan plan();

private:
  bool isMatrixOfParameters(unsigned index) const;
  bool isTransposeOfUnknown(unsigned index) const;
  void dropComputedVectors();
  void joinTwins();
  bool staysApart(unsigned index, const Twin &twin);
  void findMerging();
  std::string keyOf(const Read &read, unsigned index);
  std::vector<ParameterReads> group(unsigned index);
  void assign(unsigned index);
  void addOwnName(ParameterReads &entry, unsigned index);
  void addParameter(unsigned index, const ParameterReads &entry, bool isNamed, std::string guess);
  void restoreBiases();
  void sort();

  Model &model;
  const BatchNorms &norms;
  const Spec &spec;
  FileDiagnostics &diagnostics;
  const Notes notes;
  ParameterNames names;
  ParameterPlan result;
  ParameterTies ties;
  OneValues values;
  std::vector<std::vector<Read>> reads; ///< per initializer
  std::vector<unsigned> positions;      ///< per parameter: the first node that reads it
  WeakEvidence weak;
  bool mayMerge = false;
};

} // namespace xlc::onnx

#endif
