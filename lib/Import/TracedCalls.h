// What the calls in PyTorch that nodes came from say of the whole file. See TracedCalls.cpp.
#ifndef XLC_IMPORT_TRACEDCALLS_H
#define XLC_IMPORT_TRACEDCALLS_H

#include "xlc/Onnx/Model.h"

namespace xlc::onnx {

/// Refuses what a call in PyTorch did and its nodes do not.
void checkTracedCalls(const Model &model, FileDiagnostics &diagnostics);

/// The first node in the form of training: a Dropout with its mode or of a call that drops, a batch norm with
/// statistics of the batch; or null.
const Node *findTraining(const Model &model);

} // namespace xlc::onnx

#endif
