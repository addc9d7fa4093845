// Between ReadModel and ReadTensor: one TensorProto, checked.
#ifndef XLC_LIB_ONNX_READTENSOR_H
#define XLC_LIB_ONNX_READTENSOR_H

#include "xlc/Onnx/Model.h"

namespace onnx {
class TensorProto;
}

namespace xlc::onnx {

/// Checks and takes a tensor out of the file at `modelPath`; `what` names it in complaints. False after a complaint.
bool readTensor(::onnx::TensorProto &proto, const std::string &what, llvm::StringRef modelPath, FileTensor &tensor,
                FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
