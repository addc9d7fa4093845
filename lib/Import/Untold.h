// Information that exporters omit, and the keys of the spec that supply it. See Untold.cpp.
#ifndef XLC_IMPORT_UNTOLD_H
#define XLC_IMPORT_UNTOLD_H

#include "Parameters.h"

namespace xlc::onnx {

/// Reports, once for each kind, parameters that PyTorch may train differently without evidence in the file.
void reportUntold(const Model &model, const ParameterPlan &plan, const Spec &spec, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
