// Splits nodes that the exporter merged because their parameters have equal initial values. See MergedModules.cpp.
#ifndef XLC_IMPORT_MERGEDMODULES_H
#define XLC_IMPORT_MERGEDMODULES_H

#include "xlc/Onnx/Model.h"

namespace xlc::onnx {

/// Restores the node of each merged module, and those of calls with a detached operand (MergedCalls.h). Must be called
/// before anything refers to nodes by number.
void splitMerged(Model &model, llvm::raw_ostream *notes, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
