// Between ReadNodes and what exporters write beside a node: the call in PyTorch that it came from, and our own keys.
#ifndef XLC_LIB_ONNX_NODEMETADATA_H
#define XLC_LIB_ONNX_NODEMETADATA_H

#include "xlc/Onnx/Model.h"

namespace onnx {
class NodeProto;
}

namespace xlc::onnx {

/// Sets `call`, `stopsGradient`, `paddingIndex` and `nextOf` of `node`. An unreadable text is ignored; under our own
/// keys it is an error.
void readMetadata(const ::onnx::NodeProto &proto, Node &node, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
