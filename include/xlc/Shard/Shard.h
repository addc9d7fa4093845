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
  std::optional<bool> sequenceParallel; ///< none: if possible
  std::vector<LayoutPin> pins;          ///< a later pin overrides an earlier one
  const Spec *spec = nullptr;           ///< for the places of keys in messages; none: no places
  std::string model;                    ///< path of its file, for messages about nodes
};

/// Partitions @micro_batch in place. If that is not possible, returns false and leaves the module unchanged.
bool partition(mlir::ModuleOp module, const ShardOptions &options, Diagnostics &diagnostics);

/// The rows of the losses of @micro_batch that chunkLoss can chunk.
struct LossRows {
  int64_t rows = 0;     ///< of the largest loss that can be chunked; 0: none
  std::string obstacle; ///< why a loss cannot be chunked; empty if all can
};
LossRows findLossRows(mlir::ModuleOp module);

} // namespace shard

/// Partitions the module according to the spec; `model` is the path of the model's file.
mlir::LogicalResult shardModule(mlir::ModuleOp module, const Spec &spec, llvm::StringRef model,
                                Diagnostics &diagnostics);

} // namespace xlc

#endif
