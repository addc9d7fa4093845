// The phase Differentiate: from @forward to @micro_batch, @scalars and @update.
#ifndef XLC_DIFFERENTIATE_DIFFERENTIATE_H
#define XLC_DIFFERENTIATE_DIFFERENTIATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Graph/TrainingAttributes.h"
#include "xlc/Dialect/Graph/Update.h"
#include "xlc/Spec/Spec.h"

namespace xlc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/Differentiate/Passes.h.inc"

namespace graph {
/// Module attribute from which, with `graph.groups`, the update is made: the clipping norm (absent: none).
inline constexpr llvm::StringLiteral kClipNorm = "graph.clip_norm";
} // namespace graph

/// Writes the optimizer of the spec into the module: `graph.groups`, `graph.clip_norm`, `graph.lr_schedule` and each
/// parameter's `graph.group`. A group that matches no parameter is an error at its place in the spec.
mlir::LogicalResult assignOptimizerGroups(mlir::ModuleOp module, const Spec &spec, Diagnostics &diagnostics);

} // namespace xlc

#endif
