// Calls in PyTorch that the exporter's optimizer merged though gradients are stopped in one of them only. See
// MergedCalls.cpp.
#ifndef XLC_IMPORT_MERGEDCALLS_H
#define XLC_IMPORT_MERGEDCALLS_H

#include "xlc/Onnx/Model.h"

namespace xlc::onnx {

/// Restores the nodes of each such call if the file shows what they were; reports an error otherwise. Must be called
/// before anything refers to nodes by number.
void splitMergedCalls(Model &model, FileDiagnostics &diagnostics);

/// Maps names of calls, of inputs and of parameters in calls to names of the file.
class CallNames {
public:
  explicit CallNames(const Model &model);

  /// The file's name of the value `traced` of a call; empty if the file does not have it.
  llvm::StringRef findInFile(llvm::StringRef traced) const;
  /// Whether PyTorch's name is that of a detached value, which is not in the file.
  bool isStop(llvm::StringRef traced) const;
  bool hasStop(const TracedCall &call) const;

private:
  const Model &model;
  llvm::StringMap<std::string> values; ///< in calls -> in the file
};

} // namespace xlc::onnx

#endif
