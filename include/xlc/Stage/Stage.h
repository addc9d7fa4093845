// The phase Stage: the micro-batch as a list of calls on unit functions, and which pipeline stage each belongs to.
#ifndef XLC_STAGE_STAGE_H
#define XLC_STAGE_STAGE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Pipeline/Pipeline.h"
#include "xlc/Spec/Spec.h"

namespace xlc {
/// The pipeline schedule of a spec and what it is for; one stage has nothing to schedule, and is what 1f1b makes of it.
const PipelineSchedule &getSchedule(const Spec &spec);
PipelineShape getPipelineShape(const Spec &spec);

/// Finds the spec's pipeline.cuts in @forward and writes them into the module; a unit with a cut inside becomes two.
/// Complains of cuts, schedules and numbers of stages that the model does not allow.
llvm::LogicalResult placeCuts(mlir::ModuleOp module, const Spec &spec, Diagnostics &diagnostics);

/// After Shard: complains of a cut whose unit is gone, since a rank's own program has no op for it (a reshape between
/// two cuts).
llvm::LogicalResult checkCuts(mlir::ModuleOp module, const Spec &spec, Diagnostics &diagnostics);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/Stage/Passes.h.inc"

namespace graph {
/// Attributes of a call in @micro_batch: how many of its last arguments are parameters, how many of its last results
/// are returned from the micro-batch (loss, count, contributions to gradients). Sites, which no unit computes, stand
/// before the parameters.
inline constexpr llvm::StringLiteral kParams = "graph.params";
inline constexpr llvm::StringLiteral kStores = "graph.stores";

/// Of an op or call: the number of its chunk (absent: 0). Of the module: the pp rank of each chunk (absent: all on 0),
/// and the units after which the user cuts.
inline constexpr llvm::StringLiteral kChunk = "graph.chunk";
inline constexpr llvm::StringLiteral kStages = "graph.stages";
inline constexpr llvm::StringLiteral kCuts = "graph.cuts";

/// The chunk of an op or call of @micro_batch, and the pp rank of a chunk.
int64_t getChunk(mlir::Operation *op);
int64_t getStage(mlir::ModuleOp module, int64_t chunk);
} // namespace graph

} // namespace xlc

#endif
