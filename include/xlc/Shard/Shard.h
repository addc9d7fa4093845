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
};

/// Something to tell the user, with the key of the spec or the pin it is about, or the op.
struct Complaint {
  enum class Severity { Error, Warning, Note } severity = Severity::Error;
  std::string text;
  std::string key = "tp";        ///< where in the spec, unless `location` says
  SpecLocation location;         ///< of a pin
  mlir::Operation *op = nullptr; ///< the node it is about
  std::string about;             ///< what that node has to do with it
  std::vector<std::string> notes;
};

/// Partitions @micro_batch in place. False where it is impossible: the module is then as it was.
bool partition(mlir::ModuleOp module, const ShardOptions &options, std::vector<Complaint> &complaints);

} // namespace shard

/// Partitions the module as the spec says; complaints are printed to `errors`, `model` names the model's file.
mlir::LogicalResult shardModule(mlir::ModuleOp module, const Spec &spec, llvm::StringRef model,
                                llvm::raw_ostream &errors);

} // namespace xlc

#endif
