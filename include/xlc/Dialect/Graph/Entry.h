// The entries of a module: the function that ranks run for each micro-batch, one for each purpose. A function is an
// entry because it carries `graph.entry`; its name is for people, and where its results stand is known here alone.
//
//   func.func @micro_batch(parameters, inputs) -> (loss, count, next values of buffers, contributions to gradients)
//       attributes {graph.entry = #graph.purpose<train>}
//
// One that evaluates returns sums over the rows of its micro-batch, each under its name (xlc/Runtime/Metrics.h): those of
// all micro-batches and ranks add up.
//
//   func.func @evaluate(parameters, inputs) -> (tensor<f64> {graph.sum = "loss_sum"}, tensor<i64> {graph.sum = "targets"})
//
// Behind them it may return outputs of the model, in rows of the micro-batch's samples: their dimension 0 is a multiple
// of the micro-batch.
//
//   ... tensor<2x32x50257xf32> {graph.output = "logits"}
#ifndef XLC_DIALECT_GRAPH_ENTRY_H
#define XLC_DIALECT_GRAPH_ENTRY_H

#include "xlc/Dialect/Graph/Signature.h"

namespace xlc::graph {

/// On a function: it is an entry, for this purpose.
inline constexpr llvm::StringLiteral kEntry = "graph.entry";
/// The name that Differentiate gives the entry which trains, and that of the entry which evaluates.
inline constexpr llvm::StringLiteral kMicroBatch = "micro_batch", kEvaluate = "evaluate";

/// One entry, or none.
class Entry {
public:
  Entry() = default;
  /// That of the module for `purpose`; none where it has none.
  static Entry find(mlir::ModuleOp module, Purpose purpose);
  /// All of the module, in their order.
  static llvm::SmallVector<Entry, 2> all(mlir::ModuleOp module);
  /// Makes `function` one.
  static Entry make(mlir::func::FuncOp function, Purpose purpose);
  /// `function` as what it is going to be: @forward, which has the same first results.
  static Entry ofForward(mlir::func::FuncOp function) { return Entry(function); }

  explicit operator bool() const { return bool(function); }
  mlir::func::FuncOp getFunction() const { return function; }
  Purpose getPurpose() const;
  bool isTraining() const { return getPurpose() == Purpose::train; }

  /// The argument of a parameter or an input of this name; null where it has none.
  mlir::BlockArgument findParameter(llvm::StringRef name) const;
  mlir::BlockArgument findInput(llvm::StringRef name) const;

  /// What one that trains returns: the loss's sum, and the number of targets or the sum of their weights.
  mlir::OpOperand &getLoss() const { return returned(0); }
  mlir::OpOperand &getCount() const { return returned(1); }
  /// What it returns as the next value of a running average, or as a contribution to the gradient of a parameter: all
  /// of them, in their order.
  llvm::SmallVector<mlir::OpOperand *> getBuffers() const;
  llvm::SmallVector<mlir::OpOperand *> getGradients() const;
  /// The sums that one that evaluates returns, and the name of one of them.
  llvm::SmallVector<mlir::OpOperand *> getSums() const;
  mlir::StringAttr getSumName(mlir::OpOperand &value) const;
  /// The outputs of the model that one that evaluates returns, and the name of one of them.
  llvm::SmallVector<mlir::OpOperand *> getOutputs() const;
  mlir::StringAttr getOutputName(mlir::OpOperand &value) const;
  /// The parameter to whose gradient a returned value contributes, or the buffer whose next value it is; null: neither.
  mlir::StringAttr getGradientName(mlir::OpOperand &value) const;
  mlir::StringAttr getBufferName(mlir::OpOperand &value) const;

private:
  explicit Entry(mlir::func::FuncOp function) : function(function) {}
  mlir::OpOperand &returned(unsigned number) const;

  mutable mlir::func::FuncOp function;
};

} // namespace xlc::graph

#endif
