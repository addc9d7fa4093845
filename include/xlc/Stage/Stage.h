// The phase Stage: the micro-batch as a list of calls on unit functions.
#ifndef XLC_STAGE_STAGE_H
#define XLC_STAGE_STAGE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/Stage/Passes.h.inc"

namespace graph {
/// Attributes of a call in @micro_batch: how many of its last arguments are parameters, how many of its last results
/// are returned from the micro-batch (loss, count, contributions to gradients).
inline constexpr llvm::StringLiteral kParams = "graph.params";
inline constexpr llvm::StringLiteral kStores = "graph.stores";
} // namespace graph

} // namespace xlc

#endif
