// Counts of a whole step, for a loss whose terms are divided by different ones.
//
// One count can be passed to the update, which divides by it. Several counts must each be known before backward begins:
// the sums over all ranks and micro-batches, computed from inputs alone. So every micro-batch also receives these
// inputs with all rows of the step, and counts them itself. This costs a few integers more to read, but no message and
// no order among micro-batches.
#ifndef XLC_LIB_IMPORT_STEPCOUNTS_H
#define XLC_LIB_IMPORT_STEPCOUNTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Dialect/Graph/InputAttributes.h"

namespace xlc::onnx {

class StepCounts {
public:
  /// Copies counts to the end of `forward`, and adds the inputs that they need to `forward`.
  StepCounts(mlir::func::FuncOp forward, mlir::OpBuilder &builder) : forward(forward), builder(builder) {}

  /// Whether the count depends on no parameter.
  static bool isOfInputs(mlir::Value count);
  /// Copies `count`, of the graph that has all rows of a step, to `forward`.
  mlir::Value copy(mlir::Value count);

private:
  mlir::Value addInput(mlir::BlockArgument rows);
  mlir::Value countLabels(graph::CrossEntropyOp scored);

  mlir::func::FuncOp forward;
  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::Value> copies;
};

} // namespace xlc::onnx

#endif
