// The end of @forward: sum of the loss and number of counted targets. See Loss.cpp.
#ifndef XLC_IMPORT_LOSS_H
#define XLC_IMPORT_LOSS_H

#include "Importer.h"

namespace xlc::onnx {

struct Loss {
  mlir::Value sum, count;
  int64_t nominalCount = 0; ///< targets of the global batch
  bool addsLabels = false;  ///< the last argument of @forward is new: the spec's labels
};

/// Finds the loss among the outputs, or builds the one that the spec asks for. None after a complaint.
std::optional<Loss> makeLoss(const Model &model, const Spec &spec, llvm::StringMap<ImportedValue> &values,
                             mlir::OpBuilder &builder, Diagnostics &diagnostics);

} // namespace xlc::onnx

#endif
