// Between ReadModel and ReadRecord: the record of xlc_export, checked.
#ifndef XLC_LIB_ONNX_READRECORD_H
#define XLC_LIB_ONNX_READRECORD_H

#include "xlc/Onnx/Model.h"

namespace xlc::onnx {

/// Reads the JSON document; none after an error. The file may contain anything: every field is checked.
std::optional<ExportRecord> readExportRecord(llvm::StringRef text, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
