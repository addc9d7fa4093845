// Checks of the whole file by the calls in PyTorch that its nodes came from. See TracedCalls.cpp.
#ifndef XLC_IMPORT_TRACEDCALLS_H
#define XLC_IMPORT_TRACEDCALLS_H

#include "xlc/Onnx/Model.h"

namespace xlc::onnx {

/// Rejects calls in PyTorch whose nodes compute something else.
void checkTracedCalls(const Model &model, FileDiagnostics &diagnostics);

/// The first node in training form: a Dropout with its mode or of a call that drops, a batch norm with statistics of
/// the batch; or null.
const Node *findTraining(const Model &model);

} // namespace xlc::onnx

#endif
