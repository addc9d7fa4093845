// Reports parameters that cannot be trained as in PyTorch, and conclusions from weak evidence.
//
// The signature lists every parameter. One that nothing in the graph reads was folded into a constant (1 + w), merged
// with an equal one, or rearranged beyond recognition; training would continue without it, and the loss would decrease
// all the same. So it is an error, unless the spec freezes the parameter, or the file shows that PyTorch does not read
// it either. The old exporter has no list: in its files, values computed at export may contain parameters.
#ifndef XLC_IMPORT_LOSTPARAMETERS_H
#define XLC_IMPORT_LOSTPARAMETERS_H

#include "ParameterTies.h"
#include "TensorValues.h"

namespace xlc::onnx {

/// Conclusions from weak evidence, by names of parameters.
struct WeakEvidence {
  llvm::StringSet<> nameless;       ///< the file does not say their names
  std::vector<std::string> copies;  ///< they begin with the values of another layer
  std::vector<std::string> guessed; ///< the file holds their one value once
};

class LostParameters {
public:
  /// `reads`: per initializer. Requires that all other steps of the plan are done.
  LostParameters(const Model &model, const BatchNorms &norms, const Spec &spec, const ParameterNames &names,
                 llvm::ArrayRef<std::vector<Read>> reads, FileDiagnostics &diagnostics, llvm::raw_ostream *notes)
      : model(model), norms(norms), spec(spec), names(names), reads(reads), diagnostics(diagnostics), notes(notes) {}

  /// Fills `lost` of the plan, and reports parameters that training would miss.
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
