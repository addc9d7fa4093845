// Parameters from which the exporter computed a constant in advance, so that the graph reads the constant instead.
#ifndef XLC_IMPORT_FOLDEDPARAMETERS_H
#define XLC_IMPORT_FOLDEDPARAMETERS_H

#include "ParameterNames.h"
#include "Parameters.h"

namespace xlc::onnx {

class FoldedParameters {
public:
  /// Requires that the constants of `plan` have been found.
  FoldedParameters(const Model &model, const ParameterNames &names, const ParameterPlan &plan)
      : model(model), names(names), plan(plan) {}

  /// The constant that was computed from the parameter `name`, according to its position: it has the name of a result
  /// in PyTorch, and its reader is in the parameter's module or in the nearest enclosing one. Null if there is none.
  const FileTensor *find(llvm::StringRef name) const;
  /// Whether every call that may have read a parameter is still in the file, or computed no constant from it.
  bool isComplete() const;

private:
  bool isMadeOfNothing(llvm::StringRef constant) const;

  const Model &model;
  const ParameterNames &names;
  const ParameterPlan &plan;
};

} // namespace xlc::onnx

#endif
