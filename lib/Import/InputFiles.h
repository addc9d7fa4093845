// What the program will read for the inputs of a model, against what the model reads of them.
#ifndef XLC_IMPORT_INPUTFILES_H
#define XLC_IMPORT_INPUTFILES_H

#include "Loss.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc::onnx {

/// Refuses files and tokens of `data` that belong to no input of @forward, the labels among them; warns of inputs whose
/// values the loss does not need, and marks those that nothing in the file reads (graph.unread).
void checkInputFiles(const Model &model, const Spec &spec, mlir::func::FuncOp forward, FileDiagnostics &diagnostics);

/// StreamInputs.cpp: refuses what a token stream gives to an input of @forward where that has another type or other
/// sizes, and an input that gets its rows from nowhere.
void checkStreamInput(mlir::BlockArgument argument, const Spec &spec, FileDiagnostics &diagnostics);
void checkStreamLengths(mlir::func::FuncOp forward, const Spec &spec, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
