// The values that inputs may have. See InputLimits.cpp.
#ifndef XLC_IMPORT_INPUTLIMITS_H
#define XLC_IMPORT_INPUTLIMITS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc::onnx {

/// Sets `graph.limit` and `graph.ignore` of the arguments of @forward.
void limitInputs(mlir::func::FuncOp forward);
/// Gives the rows of a whole step the limits of those of a micro-batch.
void limitWholeSteps(mlir::func::FuncOp forward);

} // namespace xlc::onnx

#endif
