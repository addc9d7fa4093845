// Between ReadModel and ReadTensor: one TensorProto, checked.
#ifndef XLC_LIB_ONNX_READTENSOR_H
#define XLC_LIB_ONNX_READTENSOR_H

#include "xlc/Onnx/Model.h"

namespace onnx {
class TensorProto;
}

namespace xlc::onnx {

/// Validates a tensor and moves it out of the file at `modelPath`; `what` names it in errors. False after an error.
bool readTensor(::onnx::TensorProto &proto, const std::string &what, llvm::StringRef modelPath, FileTensor &tensor,
                FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
