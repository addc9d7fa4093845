// What a person who looks at a call needs of it: which tensors its operands are, and what its kernel computes.
#ifndef XLC_LIB_EMIT_PLANVIEWS_H
#define XLC_LIB_EMIT_PLANVIEWS_H

#include "Plan_generated.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc {

/// The views of a plan; equal ones are one.
class ViewTable {
public:
  explicit ViewTable(plan::PlanT &plan) : plan(plan) {}

  /// The number of the view that a value of memory is.
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
