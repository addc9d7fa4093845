// The phase Shard: from the global micro-batch to that of one tensor-parallel rank.
#ifndef XLC_SHARD_SHARD_H
#define XLC_SHARD_SHARD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Dist/Dist.h"
#include "xlc/Spec/Spec.h"

namespace xlc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/Shard/Passes.h.inc"

namespace shard {

struct ShardOptions {
  int64_t tp = 1;
  std::optional<bool> sequenceParallel; ///< none: where it is possible
  std::vector<LayoutPin> pins;          ///< later ones win
  const Spec *spec = nullptr;           ///< where messages say that its keys stand; none: nowhere
  std::string model;                    ///< its file, for messages about nodes
};

/// Partitions @micro_batch in place. False where it is impossible: the module is then as it was.
bool partition(mlir::ModuleOp module, const ShardOptions &options, Diagnostics &diagnostics);

/// The rows of the losses of @micro_batch, which chunkLoss can cut.
struct LossRows {
  int64_t rows = 0;     ///< of the largest that can be cut; 0: of none
  std::string obstacle; ///< why a loss cannot be cut; empty where all can
};
LossRows findLossRows(mlir::ModuleOp module);

} // namespace shard

/// Partitions the module as the spec says; `model` names the model's file.
mlir::LogicalResult shardModule(mlir::ModuleOp module, const Spec &spec, llvm::StringRef model,
                                Diagnostics &diagnostics);

} // namespace xlc

#endif
