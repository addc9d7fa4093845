// Parameters that the exporter computed with once and for all, so that a constant stands where they were read.
#ifndef XLC_IMPORT_FOLDEDPARAMETERS_H
#define XLC_IMPORT_FOLDEDPARAMETERS_H

#include "ParameterNames.h"
#include "Parameters.h"

namespace xlc::onnx {

class FoldedParameters {
public:
  /// The constants of `plan` are found.
  FoldedParameters(const Model &model, const ParameterNames &names, const ParameterPlan &plan)
      : model(model), names(names), plan(plan) {}

  /// The constant that was computed from the parameter `name`, as far as its place says: it has the name of a result in
  /// PyTorch, and its reader is in the parameter's module or in the nearest one around it. Null where there is none.
  const FileTensor *find(llvm::StringRef name) const;
  /// Whether every call that may have read a parameter is still in the file, or made none of one.
  bool isComplete() const;

private:
  bool isMadeOfNothing(llvm::StringRef constant) const;

  const Model &model;
  const ParameterNames &names;
  const ParameterPlan &plan;
};

} // namespace xlc::onnx

#endif
