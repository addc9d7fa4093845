// The phase Stage: the micro-batch as a list of calls of unit functions, and the pipeline stage of each call.
#ifndef XLC_STAGE_STAGE_H
#define XLC_STAGE_STAGE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Pipeline/Pipeline.h"
#include "xlc/Spec/Spec.h"

namespace xlc {
/// The pipeline schedule of a spec, and the shape of its pipeline. With one stage there is nothing to schedule; 1f1b is
/// used.
const PipelineSchedule &getSchedule(const Spec &spec);
PipelineShape getPipelineShape(const Spec &spec);

/// Finds the spec's pipeline.cuts in @forward and writes them into the module. A unit with a cut inside is split into
/// two. Reports cuts, schedules and numbers of stages that the model does not allow.
llvm::LogicalResult placeCuts(mlir::ModuleOp module, const Spec &spec, Diagnostics &diagnostics);

/// After Shard: reports a cut whose unit is gone, because the program of a rank has no op for it (a reshape between two
/// cuts).
llvm::LogicalResult checkCuts(mlir::ModuleOp module, const Spec &spec, Diagnostics &diagnostics);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/Stage/Passes.h.inc"

namespace graph {
/// Attributes of a call in @micro_batch: the number of its last arguments that are parameters, and the number of its
/// last results that are returned from the micro-batch (loss, count, contributions to gradients). Sites, which are not
/// computed by units, come before the parameters.
inline constexpr llvm::StringLiteral kParams = "graph.params";
inline constexpr llvm::StringLiteral kStores = "graph.stores";

/// Of an op or call: the number of its chunk (absent: 0). Of the module: the pp rank of each chunk (absent: all on 0),
/// and the units followed by a cut of the user.
inline constexpr llvm::StringLiteral kChunk = "graph.chunk";
inline constexpr llvm::StringLiteral kStages = "graph.stages";
inline constexpr llvm::StringLiteral kCuts = "graph.cuts";

/// The chunk of an op or call of @micro_batch, and the pp rank of a chunk.
int64_t getChunk(mlir::Operation *op);
int64_t getStage(mlir::ModuleOp module, int64_t chunk);
} // namespace graph

} // namespace xlc

#endif
