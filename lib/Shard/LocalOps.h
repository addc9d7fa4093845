// One op of the global program in the program of one rank.
#ifndef XLC_LIB_SHARD_LOCAL_OPS_H
#define XLC_LIB_SHARD_LOCAL_OPS_H

#include "Emit.h"
#include "xlc/Factors/FactorRules.h"

namespace xlc::shard {

class LocalOps {
public:
  LocalOps(mlir::OpBuilder &builder, int64_t tp) : builder(builder), tp(tp) {}

  /// Writes `op` on local operands with the layouts `layouts`; returns its local results. New ops have the unit and the
  /// role of `like`. Backward of a cross-entropy over split classes must follow its forward.
  llvm::SmallVector<mlir::Value> write(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands, const Spread &layouts,
                                       mlir::Operation *like);

private:
  llvm::SmallVector<mlir::Value> writeSeveral(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands,
                                              const Spread &layouts, Emitter &emit);
  mlir::Operation *clone(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands, const Spread &layouts);
  mlir::Value shift(graph::IotaOp iota, const Layout &layout, Emitter &emit);

  mlir::OpBuilder &builder;
  int64_t tp;
  llvm::DenseMap<mlir::Value, SplitLoss> losses; ///< by the log-sum-exp of the global program
};

} // namespace xlc::shard

#endif
