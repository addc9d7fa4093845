// Names, shapes and advice as messages show them.
#ifndef XLC_IMPORT_DESCRIBENAMES_H
#define XLC_IMPORT_DESCRIBENAMES_H

#include "xlc/Onnx/Model.h"

namespace xlc::onnx {

/// "'a', 'b', 'c' and 7 more".
std::string listNames(llvm::ArrayRef<std::string> names);

/// "[2, 3]".
std::string describeShape(llvm::ArrayRef<int64_t> shape);

/// Advises other exports that keep the information this file's exporter lost: "export with optimize=False or with
/// xlc_export".
std::string adviseExport(const Model &model);

} // namespace xlc::onnx

#endif
