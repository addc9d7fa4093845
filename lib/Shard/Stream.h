// The residual stream: the activations between repeated units, and all values reachable from them through ops that keep
// their shape. All of it has one layout: whole on every rank or, with sequence parallelism, split over the sequence.
//
//     unit 0 ──► add ──► norm ─► y      y is read by products, which end the stream; what they give comes
//                 ▲                      back to it in an add
//     product ────┘
//
// The gradients of the stream have its layout. The sequence is the query dimension of attention, tracked along the
// stream.
#ifndef XLC_LIB_SHARD_STREAM_H
#define XLC_LIB_SHARD_STREAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Factors/FactorRules.h"
#include "llvm/ADT/DenseSet.h"

namespace xlc::shard {

/// The classes of units that have more than one instance.
llvm::DenseSet<mlir::StringAttr> findRepeatedClasses(mlir::func::FuncOp function);

/// The reason why sequence parallelism is impossible, if it is.
struct SequenceFinding {
  bool hasSequence = false;      ///< some stream has a sequence dimension
  int64_t indivisible = 0;       ///< the size of a sequence that tp does not divide; 0: none
  mlir::Operation *op = nullptr; ///< the attention where that is so
};

struct Stream {
  /// The layout of every value of the stream.
  llvm::DenseMap<mlir::Value, Layout> layouts;
  SequenceFinding sequence;

  /// Without sequence parallelism.
  void replicate();
};

/// Finds the stream, split over the sequence if it has one, otherwise replicated.
Stream findStream(mlir::func::FuncOp function, int64_t tp);

} // namespace xlc::shard

#endif
