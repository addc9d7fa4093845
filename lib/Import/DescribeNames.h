// Names and shapes as messages show them.
#ifndef XLC_IMPORT_DESCRIBENAMES_H
#define XLC_IMPORT_DESCRIBENAMES_H

#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace xlc::onnx {

/// "'a', 'b', 'c' and 7 more".
std::string listNames(llvm::ArrayRef<std::string> names);

/// "[2, 3]".
std::string describeShape(llvm::ArrayRef<int64_t> shape);

} // namespace xlc::onnx

#endif
