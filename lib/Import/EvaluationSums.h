// The end of @evaluate: the sums of loss and count over the valid rows of the validation data, and, after the logits of
// the loss, the values that metrics are computed from (xlc/Runtime/Metrics.h).
//
//   valid     = @sample >= 0                                    rows behind the last have no number
//   labels    = select(valid, labels, ignore)                   so they are no targets, in the loss either
//   rank      = classes with a larger logit, or with an equal one and a smaller number
//   top_K     = targets whose rank is below K
#ifndef XLC_LIB_IMPORT_EVALUATIONSUMS_H
#define XLC_LIB_IMPORT_EVALUATIONSUMS_H

#include "Importer.h"
#include "Loss.h"

namespace xlc::onnx {

/// Gives the ops of `evaluation` the units that `trained` has for the nodes that they come from, so that stages are cut
/// and parameters gathered as in training. An op without a node, or from nodes of several units, gets the unit of the
/// last of its operands, or else the unit of the first of its users.
void assignUnitsLike(mlir::func::FuncOp trained, mlir::func::FuncOp evaluation);

/// The values that eval.outputs names. None after an error: a name is not an output, or its value does not depend on
/// the data.
std::optional<llvm::SmallVector<mlir::Value>> findOutputs(const Model &model, const Spec &spec, Importer &importer,
                                                          FileDiagnostics &diagnostics);

/// Rewrites @forward, whose passes have run, to return the results of an evaluating entry. False after an error.
bool addEvaluationSums(const Spec &spec, mlir::func::FuncOp forward, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
