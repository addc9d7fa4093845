// Which rows of embedding tables get no gradient from lookups. See Padding.cpp.
#ifndef XLC_IMPORT_PADDING_H
#define XLC_IMPORT_PADDING_H

#include "Model.h"

namespace xlc::onnx {

/// Sets `paddingIndex` of lookups whose calls in PyTorch have one.
void findPadding(Model &model, Diagnostics &diagnostics);

} // namespace xlc::onnx

#endif
