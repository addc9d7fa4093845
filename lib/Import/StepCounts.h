// Counts of a whole step, for a loss whose terms are divided by different ones.
//
// One count can travel to the update, which divides by it. Of several each must be known before backward begins: the
// sum over all ranks and micro-batches, of inputs alone. So every micro-batch is also given these inputs with all rows
// of the step, and counts them itself: no message, and no order among micro-batches, for a few integers more to read.
#ifndef XLC_LIB_IMPORT_STEPCOUNTS_H
#define XLC_LIB_IMPORT_STEPCOUNTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Dialect/Graph/InputAttributes.h"

namespace xlc::onnx {

class StepCounts {
public:
  /// Counts are copied to the end of `forward`, to which the inputs that they need are added.
  StepCounts(mlir::func::FuncOp forward, mlir::OpBuilder &builder) : forward(forward), builder(builder) {}

  /// Whether no parameter is needed to count.
  static bool isOfInputs(mlir::Value count);
  /// `count` of the graph that has all rows of a step, in `forward`.
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
