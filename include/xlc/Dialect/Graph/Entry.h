// The entries of a module: the functions that ranks run for each micro-batch, one for each purpose. The attribute
// `graph.entry` makes a function an entry; its name is only for readers. This header alone defines the order of its
// results.
//
//   func.func @micro_batch(parameters, inputs) -> (loss, count, next values of buffers, contributions to gradients)
//       attributes {graph.entry = #graph.purpose<train>}
//
// An entry that evaluates returns sums over the rows of its micro-batch, each with its name (xlc/Runtime/Metrics.h).
// The sums of all micro-batches and ranks are added.
//
//   func.func @evaluate(parameters, inputs)
//       -> (tensor<f64> {graph.sum = "loss_sum"}, tensor<i64> {graph.sum = "targets"})
//
// After the sums it may return outputs of the model, as rows of the micro-batch's samples: their dimension 0 is a
// multiple of the micro-batch.
//
//   ... tensor<2x32x50257xf32> {graph.output = "logits"}
#ifndef XLC_DIALECT_GRAPH_ENTRY_H
#define XLC_DIALECT_GRAPH_ENTRY_H

#include "xlc/Dialect/Graph/Signature.h"

namespace xlc::graph {

/// On a function: marks it as an entry with this purpose.
inline constexpr llvm::StringLiteral kEntry = "graph.entry";
/// The names that Differentiate gives the entry that trains and the entry that evaluates.
inline constexpr llvm::StringLiteral kMicroBatch = "micro_batch", kEvaluate = "evaluate";

/// One entry, or none.
class Entry {
public:
  Entry() = default;
  /// The entry of the module for `purpose`; none if there is none.
  static Entry find(mlir::ModuleOp module, Purpose purpose);
  /// All entries of the module, in their order.
  static llvm::SmallVector<Entry, 2> all(mlir::ModuleOp module);
  /// Turns `function` into an entry.
  static Entry make(mlir::func::FuncOp function, Purpose purpose);
  /// `function` as the entry that it will become: @forward, which has the same first results.
  static Entry ofForward(mlir::func::FuncOp function) { return Entry(function); }

  explicit operator bool() const { return bool(function); }
  mlir::func::FuncOp getFunction() const { return function; }
  Purpose getPurpose() const;
  bool isTraining() const { return getPurpose() == Purpose::train; }

  /// The argument for a parameter or an input of this name; null if there is none.
  mlir::BlockArgument findParameter(llvm::StringRef name) const;
  mlir::BlockArgument findInput(llvm::StringRef name) const;

  /// Results of an entry that trains: the sum of the loss, and the number of targets or the sum of their weights.
  mlir::OpOperand &getLoss() const { return returned(0); }
  mlir::OpOperand &getCount() const { return returned(1); }
  /// All results that are the next value of a running average, or a contribution to the gradient of a parameter, in
  /// their order.
  llvm::SmallVector<mlir::OpOperand *> getBuffers() const;
  llvm::SmallVector<mlir::OpOperand *> getGradients() const;
  /// The sums that an entry that evaluates returns, and the name of one of them.
  llvm::SmallVector<mlir::OpOperand *> getSums() const;
  mlir::StringAttr getSumName(mlir::OpOperand &value) const;
  /// The outputs of the model that an entry that evaluates returns, and the name of one of them.
  llvm::SmallVector<mlir::OpOperand *> getOutputs() const;
  mlir::StringAttr getOutputName(mlir::OpOperand &value) const;
  /// The parameter to whose gradient a result contributes, or the buffer of which it is the next value; null otherwise.
  mlir::StringAttr getGradientName(mlir::OpOperand &value) const;
  mlir::StringAttr getBufferName(mlir::OpOperand &value) const;

private:
  explicit Entry(mlir::func::FuncOp function) : function(function) {}
  mlir::OpOperand &returned(unsigned number) const;

  mutable mlir::func::FuncOp function;
};

} // namespace xlc::graph

#endif
