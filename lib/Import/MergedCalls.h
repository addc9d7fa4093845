// Calls in PyTorch that the exporter's optimizer merged though gradients are stopped in one of them only. See
// MergedCalls.cpp.
#ifndef XLC_IMPORT_MERGEDCALLS_H
#define XLC_IMPORT_MERGEDCALLS_H

#include "xlc/Onnx/Model.h"

namespace xlc::onnx {

/// Gives each such call its own nodes back where the file says what they were; complains where it does not. To be called
/// before anything refers to nodes by number.
void splitMergedCalls(Model &model, FileDiagnostics &diagnostics);

/// Names of calls, of inputs and of parameters in calls, as names of the file.
class CallNames {
public:
  explicit CallNames(const Model &model);

  /// The file's name of what a call calls `traced`; empty where nothing in the file has it.
  llvm::StringRef findInFile(llvm::StringRef traced) const;
  /// Whether PyTorch's name is that of a detached value, which the file has not.
  bool isStop(llvm::StringRef traced) const;
  bool hasStop(const TracedCall &call) const;

private:
  const Model &model;
  llvm::StringMap<std::string> values; ///< in calls -> in the file
};

} // namespace xlc::onnx

#endif
