// Between ReadModel and ReadTensor: one TensorProto, checked.
#ifndef XLC_IMPORT_READTENSOR_H
#define XLC_IMPORT_READTENSOR_H

#include "Model.h"

namespace onnx {
class TensorProto;
}

namespace xlc::onnx {

/// Checks and takes a tensor out of the file at `modelPath`; `what` names it in complaints. False after a complaint.
bool readTensor(::onnx::TensorProto &proto, const std::string &what, llvm::StringRef modelPath, FileTensor &tensor,
                Diagnostics &diagnostics);

/// The value of an IEEE half.
float floatFromHalf(uint16_t bits);

} // namespace xlc::onnx

#endif
