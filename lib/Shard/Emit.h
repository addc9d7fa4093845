// Writes the ops of one rank's program: what brings a value from one layout to another, and what depends on the rank.
#ifndef XLC_LIB_SHARD_EMIT_H
#define XLC_LIB_SHARD_EMIT_H

#include "mlir/IR/Builders.h"
#include "xlc/Factors/Layout.h"

namespace xlc::shard {

/// Builds ops of one unit and role at one place; the local program's counterpart of an op of the global one.
class Emitter {
public:
  /// New ops get the location, unit and role of `like`.
  Emitter(mlir::OpBuilder &builder, mlir::Operation *like, int64_t tp) : builder(builder), like(like), tp(tp) {}

  /// Brings a value of a global type along a path.
  mlir::Value reshard(mlir::Value value, mlir::RankedTensorType global, const Step &step);

  /// This rank's index in a group.
  mlir::Value index(dist::GroupAttr group);
  /// The global places of a rank's block of `count` elements: index * count + 0, 1, ...; clamped to `size` - 1.
  mlir::Value places(dist::GroupAttr group, int64_t count, int64_t size);

  template <typename OpT, typename... Args> mlir::Value create(mlir::RankedTensorType type, Args &&...args) {
    return annotate(OpT::create(builder, like->getLoc(), type, std::forward<Args>(args)...));
  }
  mlir::Value constant(mlir::RankedTensorType type, double value);
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value cast(mlir::Value value, mlir::Type element);
  mlir::Value compare(graph::Predicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value binary(llvm::StringRef op, mlir::Value a, mlir::Value b);
  mlir::Value allReduce(dist::Reduction kind, mlir::Value value, dist::GroupAttr group);
  mlir::Value annotate(mlir::Operation *op);

  mlir::OpBuilder &builder;
  mlir::Operation *like;
  int64_t tp;

private:
  mlir::Value slice(mlir::Value value, mlir::RankedTensorType global, const Step &step);
  mlir::Value gather(mlir::Value value, mlir::RankedTensorType global, const Step &step);
};

/// Ids as a rank sees them that owns one block of rows: which lie in its block, and where there (0 for the others).
struct LocalIds {
  mlir::Value isHere, places;
};
LocalIds localizeIds(Emitter &emit, mlir::Value ids, dist::GroupAttr group, int64_t block);

/// gather of ids from a rank's rows of a table: partial, zero for ids of other ranks.
mlir::Value emitLookup(Emitter &emit, graph::GatherOp op, mlir::Value table, mlir::Value ids, const Layout &rows);
/// scatter_add of updates to a rank's rows.
mlir::Value emitScatter(Emitter &emit, graph::ScatterAddOp op, mlir::Value ids, mlir::Value updates,
                        const Layout &rows);

/// What a cross-entropy over split classes leaves for backward, beside its results.
struct SplitLoss {
  mlir::Value sum, count, lse;
  mlir::Value maximum, total; ///< of each row: the largest logit, and the sum of exp(logit - largest), f64
};
SplitLoss emitCrossEntropy(Emitter &emit, graph::CrossEntropyOp op, mlir::Value logits, mlir::Value labels,
                           const Layout &classes);
mlir::Value emitCrossEntropyBackward(Emitter &emit, graph::CrossEntropyBackwardOp op, mlir::Value logits,
                                     mlir::Value labels, mlir::Value dsum, const SplitLoss &loss,
                                     const Layout &classes);

} // namespace xlc::shard

#endif
