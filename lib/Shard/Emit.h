// Writes the ops of one rank's program: the conversion of a value from one layout to another, and values that depend on
// the rank.
#ifndef XLC_LIB_SHARD_EMIT_H
#define XLC_LIB_SHARD_EMIT_H

#include "xlc/Dialect/Graph/Formula.h"
#include "xlc/Factors/Layout.h"

namespace xlc::shard {

/// Builds ops of one unit and role at one position: the local program's counterpart of an op of the global one.
class Emitter : public graph::PartOf {
public:
  /// New ops get the location, unit and role of `like`.
  Emitter(const mlir::OpBuilder &at, mlir::Operation *like, int64_t tp)
      : PartOf(like, at, graph::Spelling::AsModels), tp(tp) {}

  /// Converts a value of a global type along a path of layouts.
  Value reshard(Value value, mlir::RankedTensorType global, const Step &step);

  /// This rank's index in a group.
  Value index(dist::GroupAttr group);
  /// The first of a rank's `count` positions, index * count, as a scalar of int64.
  Value firstPlace(dist::GroupAttr group, int64_t count);
  /// The global positions of a rank's block of `count` elements: index * count + 0, 1, ...; clamped to `size` - 1.
  Value places(dist::GroupAttr group, int64_t count, int64_t size);
  Value allReduce(dist::Reduction kind, Value value, dist::GroupAttr group);

  const int64_t tp;

private:
  Value takeBlock(Value value, mlir::RankedTensorType global, const Step &step);
  Value gatherBlocks(Value value, mlir::RankedTensorType global, const Step &step);
};

/// Ids from the view of a rank that owns one block of rows: which are in its block, and their position there (0 for
/// others).
struct LocalIds {
  mlir::Value isHere, places;
};
LocalIds localizeIds(Emitter &emit, mlir::Value ids, dist::GroupAttr group, int64_t block);

/// gather of ids from a rank's rows of a table: partial, zero for ids of other ranks.
mlir::Value emitLookup(Emitter &emit, graph::GatherOp op, mlir::Value table, mlir::Value ids, const Layout &rows);
/// scatter_add of updates to a rank's rows.
mlir::Value emitScatter(Emitter &emit, graph::ScatterAddOp op, mlir::Value ids, mlir::Value updates,
                        const Layout &rows);

/// Values of a cross-entropy over split classes that backward needs, in addition to its results.
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
