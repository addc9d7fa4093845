// Checks the files of the inputs of a model against the model's use of these inputs.
#ifndef XLC_IMPORT_INPUTFILES_H
#define XLC_IMPORT_INPUTFILES_H

#include "Loss.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc::onnx {

/// Rejects files and tokens of `data` that belong to no input of @forward, labels included; warns of inputs that the
/// loss does not depend on, and marks those that nothing in the file reads (graph.unread).
void checkInputFiles(const Model &model, const Spec &spec, mlir::func::FuncOp forward, FileDiagnostics &diagnostics);

/// StreamInputs.cpp: rejects an input of @forward whose type or sizes differ from those of a token stream, and an input
/// without a source of rows.
void checkStreamInput(mlir::BlockArgument argument, const Spec &spec, FileDiagnostics &diagnostics);
void checkStreamLengths(mlir::func::FuncOp forward, const Spec &spec, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
