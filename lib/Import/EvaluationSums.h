// The end of @evaluate: of loss and count sums over the rows that the validation data have, and behind the logits of
// the loss what metrics are made from (xlc/Runtime/Metrics.h).
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

/// Gives the ops of `evaluation` the units that `trained` has for the nodes that they come from: so stages are cut, and
/// parameters gathered, where training does it. What no node has, or the nodes of several units, is of the unit of its
/// operands that comes last, else of the one of its readers that comes first.
void assignUnitsLike(mlir::func::FuncOp trained, mlir::func::FuncOp evaluation);

/// The values that eval.outputs names. None after a complaint: a name is not an output, or its value does not depend on
/// the data.
std::optional<llvm::SmallVector<mlir::Value>> findOutputs(const Model &model, const Spec &spec, Importer &importer,
                                                          FileDiagnostics &diagnostics);

/// Makes of @forward, whose passes have run, what an entry that evaluates returns. False after a complaint.
bool addEvaluationSums(const Spec &spec, mlir::func::FuncOp forward, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
