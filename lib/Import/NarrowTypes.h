// Converts the float types of a file to the type that is trained. See NarrowTypes.cpp.
#ifndef XLC_IMPORT_NARROWTYPES_H
#define XLC_IMPORT_NARROWTYPES_H

#include "Parameters.h"

namespace xlc::onnx {

/// Converts float16 and bfloat16 values of a model to float32, and also float64 if its parameters are stored in it.
void narrowTypes(Model &model, const ParameterPlan &plan, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
