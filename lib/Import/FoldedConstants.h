// Constants that the exporter computed from parameters which the graph reads as well. See FoldedConstants.cpp.
#ifndef XLC_IMPORT_FOLDEDCONSTANTS_H
#define XLC_IMPORT_FOLDEDCONSTANTS_H

#include "Parameters.h"
#include "ValueRelations.h"

namespace xlc::onnx {

/// The values of initializers, read once; excludes absent and large ones.
class InitializerValues {
public:
  explicit InitializerValues(const Model &model) : model(model) {}
  const ValuedTensor &operator[](unsigned initializer);

private:
  const Model &model;
  std::map<unsigned, ValuedTensor> values;
};

/// Rejects constants of `plan` that were computed from parameters which `spec` trains, and warns of constants that may
/// have been.
void refuseFoldedConstants(const Model &model, const ParameterPlan &plan, const Spec &spec,
                           FileDiagnostics &diagnostics);

/// The parameter that a constant was computed from, quoted, or "all parameters"; empty if the values show none.
std::string findFoldedSource(const Model &model, const ParameterPlan &plan, const Spec &spec,
                             const ParameterPlan::Constant &constant);

/// Whether the exporter's name of a constant denotes the result of a computation in PyTorch, not of `full` or `arange`:
/// "sub_1".
bool isNamedAfterCall(llvm::StringRef name);

} // namespace xlc::onnx

#endif
