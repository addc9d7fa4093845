// What the calls in PyTorch that nodes came from say of the whole file. See TracedCalls.cpp.
#ifndef XLC_IMPORT_TRACEDCALLS_H
#define XLC_IMPORT_TRACEDCALLS_H

#include "xlc/Onnx/Model.h"

namespace xlc::onnx {

/// Refuses what a call in PyTorch did and its nodes do not.
void checkTracedCalls(const Model &model, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
