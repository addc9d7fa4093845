// Takes apart what the exporter merged because its parameters begin equal. See MergedModules.cpp.
#ifndef XLC_IMPORT_MERGEDMODULES_H
#define XLC_IMPORT_MERGEDMODULES_H

#include "xlc/Onnx/Model.h"

namespace xlc::onnx {

/// Gives each merged module its node back, and calls with a detached operand theirs (MergedCalls.h). To be called before
/// anything refers to nodes by number.
void splitMerged(Model &model, llvm::raw_ostream *notes, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
