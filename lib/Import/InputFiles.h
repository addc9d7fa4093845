// What the program will read for the inputs of a model, against what the model reads of them.
#ifndef XLC_IMPORT_INPUTFILES_H
#define XLC_IMPORT_INPUTFILES_H

#include "Loss.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc::onnx {

/// Refuses files of `data.train` that belong to no input of @forward, the labels among them; warns of inputs whose values
/// the loss does not need, and marks those that nothing in the file reads (graph.unread).
void checkInputFiles(const Model &model, const Spec &spec, mlir::func::FuncOp forward, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
