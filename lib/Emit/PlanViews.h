// Descriptions of calls in the plan, for messages of the runtime: the shape and strides of each operand, and the
// operations of a kernel.
#ifndef XLC_LIB_EMIT_PLANVIEWS_H
#define XLC_LIB_EMIT_PLANVIEWS_H

#include "Plan_generated.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc {

/// The views of a plan; equal views are stored once.
class ViewTable {
public:
  explicit ViewTable(plan::PlanT &plan) : plan(plan) {}

  /// Returns the number of the view of a memref value in `plan.views`; adds the view if it is new.
  uint32_t add(mlir::Value value);

private:
  plan::PlanT &plan;
  llvm::DenseMap<mlir::MemRefType, uint32_t> numbers;
};

/// Whether the constants of a kernel include an infinity.
bool writesInfinity(mlir::func::FuncOp kernel);

/// Returns the kernel's name and its computations, each op once: "kernel_7: exp, reduce". Constants and ops that only
/// move elements are omitted, unless the kernel has no other ops.
std::string describeKernel(mlir::func::FuncOp kernel);

} // namespace xlc

#endif
