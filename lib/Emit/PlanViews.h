// Descriptions of calls in the plan, for messages of the runtime: the shape and strides of each operand, and the
// operations of a kernel.
#ifndef XLC_LIB_EMIT_PLANVIEWS_H
#define XLC_LIB_EMIT_PLANVIEWS_H

#include "Plan_generated.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc {

/// The views of a plan; equal ones are one.
class ViewTable {
public:
  explicit ViewTable(plan::PlanT &plan) : plan(plan) {}

  /// The number of the view of a memref value in `plan.views`; adds the view where it is new.
  uint32_t add(mlir::Value value);

private:
  plan::PlanT &plan;
  llvm::DenseMap<mlir::MemRefType, uint32_t> numbers;
};

/// Whether an infinite number is among the constants of a kernel.
bool writesInfinity(mlir::func::FuncOp kernel);

/// "kernel_7: exp, reduce": its name, and what it computes, each op once. What only moves elements, and constants, are
/// left out, unless there is nothing else.
std::string describeKernel(mlir::func::FuncOp kernel);

} // namespace xlc

#endif
