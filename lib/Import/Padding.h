// Which rows of embedding tables get no gradient from lookups. See Padding.cpp.
#ifndef XLC_IMPORT_PADDING_H
#define XLC_IMPORT_PADDING_H

#include "Parameters.h"

namespace xlc::onnx {

/// Sets `paddingIndex` of lookups: from the file, or else from `padding` of the spec.
void findPadding(Model &model, const ParameterPlan &plan, const Spec &spec, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
