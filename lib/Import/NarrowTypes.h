// From the float types of a file to the one that is trained. See NarrowTypes.cpp.
#ifndef XLC_IMPORT_NARROWTYPES_H
#define XLC_IMPORT_NARROWTYPES_H

#include "Parameters.h"

namespace xlc::onnx {

/// Makes a model compute in float32 where its file says float16 or bfloat16, and float64 if its parameters are stored so.
void narrowTypes(Model &model, const ParameterPlan &plan, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
