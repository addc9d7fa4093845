// What the calls in PyTorch that nodes came from say of the whole file. See TracedCalls.cpp.
#ifndef XLC_IMPORT_TRACEDCALLS_H
#define XLC_IMPORT_TRACEDCALLS_H

#include "xlc/Onnx/Model.h"

namespace xlc::onnx {

/// Warns of losses that PyTorch smooths and the file does not.
void warnOfSmoothing(const Model &model, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
