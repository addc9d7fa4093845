// The kernel of a bucket's update: one step of the optimizer's rule on each element that a rank updates.
//
//   operands  the tensor that the optimizer updates, gradients, numbers of the group, states; then, if it rounds
//             stochastically, the bucket's table of members and the key of the step
//   results   the updated tensor, states; then, if that tensor is a master, the parameters in the form that units read
#ifndef XLC_LIB_MEMORY_UPDATEKERNEL_H
#define XLC_LIB_MEMORY_UPDATEKERNEL_H

#include "mlir/IR/BuiltinOps.h"
#include "xlc/Dialect/Graph/Update.h"
#include "xlc/Dialect/Sched/Sched.h"

namespace xlc {

class UpdateKernel {
public:
  /// For a rank that updates `elements` elements.
  UpdateKernel(sched::BucketOp bucket, graph::OptimizerGroup rule, int64_t elements);

  /// Kernels with equal names are equal.
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
