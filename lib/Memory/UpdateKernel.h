// The kernel of a bucket's update: one step of the optimizer's rule on each element of what a rank updates.
//
//   operands  what the optimizer moves, gradients, numbers of the group, states; then, where it rounds stochastically,
//             the bucket's table of members and the key of the step
//   results   what the optimizer moves, states; then, where that is a master, the parameters as units read them
#ifndef XLC_LIB_MEMORY_UPDATEKERNEL_H
#define XLC_LIB_MEMORY_UPDATEKERNEL_H

#include "mlir/IR/BuiltinOps.h"
#include "xlc/Dialect/Graph/Update.h"
#include "xlc/Dialect/Sched/Sched.h"

namespace xlc {

class UpdateKernel {
public:
  /// Of `elements` elements that a rank updates.
  UpdateKernel(sched::BucketOp bucket, graph::OptimizerGroup rule, int64_t elements);

  /// Kernels of equal names are equal.
  std::string getName() const;
  llvm::SmallVector<mlir::Type> getOperandTypes() const;
  llvm::SmallVector<mlir::Type> getResultTypes() const;
  /// The body, on a block that has the operands as its arguments.
  void write(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block &block) const;

  bool isStochastic() const { return bucket.getStochastic(); }
  bool hasMaster() const { return bool(sched::BucketOp(bucket).getMasterType()); }

private:
  mlir::RankedTensorType typeOf(mlir::Type element) const;

  mutable sched::BucketOp bucket; ///< its accessors are not const
  graph::OptimizerGroup rule;
  int64_t elements;
};

} // namespace xlc

#endif
