// What cannot be trained as PyTorch trains it, and what was concluded from weak evidence.
//
// The signature lists every parameter. One that nothing in the graph reads was folded into a constant (1 + w), merged
// with an equal one, or rearranged so that it is not recognised; training would go on without it, and the loss would
// fall all the same. So it is an error, unless the spec leaves the parameter as it is, or the file shows that PyTorch
// does not read it either. The old exporter has no list: there, what was computed at export may hold parameters.
#ifndef XLC_IMPORT_LOSTPARAMETERS_H
#define XLC_IMPORT_LOSTPARAMETERS_H

#include "ParameterTies.h"
#include "TensorValues.h"

namespace xlc::onnx {

/// What was concluded from weak evidence, by names of parameters.
struct WeakEvidence {
  llvm::StringSet<> nameless;       ///< the file does not say their names
  std::vector<std::string> copies;  ///< they begin with the values of another layer
  std::vector<std::string> guessed; ///< the file holds their one value once
};

class LostParameters {
public:
  /// `reads`: per initializer. All other steps of the plan are done.
  LostParameters(const Model &model, const BatchNorms &norms, const Spec &spec, const ParameterNames &names,
                 llvm::ArrayRef<std::vector<Read>> reads, FileDiagnostics &diagnostics, llvm::raw_ostream *notes)
      : model(model), norms(norms), spec(spec), names(names), reads(reads), diagnostics(diagnostics), notes(notes) {}

  /// Fills `lost` of the plan, and complains of what would be trained without it.
  void reportLost(ParameterPlan &plan, llvm::StringSet<> accounted) const;
  void reportMerged() const;
  void reportComputed(const ParameterPlan &plan, OneValues &values) const;
  void warn(const ParameterPlan &plan, const WeakEvidence &weak, const ParameterTies &ties) const;

private:
  const Model &model;
  const BatchNorms &norms;
  const Spec &spec;
  const ParameterNames &names;
  const llvm::ArrayRef<std::vector<Read>> reads;
  FileDiagnostics &diagnostics;
  const Notes notes;
};

} // namespace xlc::onnx

#endif
