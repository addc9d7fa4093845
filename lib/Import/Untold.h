// What exporters leave untold, and the key of the spec that says it. See Untold.cpp.
#ifndef XLC_IMPORT_UNTOLD_H
#define XLC_IMPORT_UNTOLD_H

#include "Parameters.h"

namespace xlc::onnx {

/// Says, once for each kind, which parameters PyTorch may train otherwise without a trace in the file.
void reportUntold(const Model &model, const ParameterPlan &plan, const Spec &spec, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
