// The state of a value of one rank's program across the ranks, derived from the program alone.
#ifndef XLC_LIB_SHARD_RANK_STATES_H
#define XLC_LIB_SHARD_RANK_STATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Factors/FactorRules.h"

namespace xlc::shard {

struct State {
  enum class Kind {
    Same,  ///< on all ranks, but for what `parts` says
    Max,   ///< each rank has the largest of its own pieces
    Index, ///< depends on the rank's index in `group`
    Found, ///< looked up by such indices in a rank's own rows: right where a mask says so
  } kind = Kind::Same;
  Layout layout;        ///< which piece; whether the ranks of one piece hold terms of a sum
  uint64_t uniform = 0; ///< dimensions along which all elements are equal
  bool isZero = false;  ///< a constant: a piece as well as the whole, and a term of any sum
  dist::GroupAttr group;

  bool isPartial() const { return layout.isPartial; }
  int64_t parts() const { return layout.parts; }
  bool isWhole() const { return kind == Kind::Same && layout.isReplicated(); }
  bool isPiece() const { return kind == Kind::Same && layout.isSplit(); }
  static State of(const Layout &layout) {
    State state;
    state.layout = layout;
    return state;
  }
  bool operator==(const State &other) const = default;
};

/// An error of the gate of Shard about an op, which is the subject of the words that follow.
inline mlir::InFlightDiagnostic rejectOp(mlir::Operation *op) {
  return op->emitError() << "gate of Shard: '" << op->getName() << "' ";
}

/// The value of `uniform` for a state that is equal along all dimensions, as a constant is.
inline constexpr uint64_t kAllDimensions = ~uint64_t(0);

/// Information that local shapes alone do not give. On a reshape of a piece in which a rank has single elements of a
/// dimension: the split dimension of its result, and the number of runs. On an op that repeats along a dimension of
/// which each rank has a piece (a constant, an iota along another dimension, a broadcast): the same, and the number of
/// pieces.
inline constexpr llvm::StringLiteral kCut = "dist.cut";

/// Writes `kCut` on the reshape of a piece whose result has the layout `layout`, if the shape alone implies another
/// split.
void nameCut(graph::ReshapeOp reshape, const Layout &layout);

/// Elements above the cut of a split in the flat tensor.
int64_t aboveOf(llvm::ArrayRef<int64_t> shape, const Layout &layout);
/// The cut below `above` elements, as a split of a dimension: one that begins there, else one that is cut into runs.
std::optional<Layout> layoutAt(llvm::ArrayRef<int64_t> shape, int64_t above, const Layout &like);
/// Whether two splits cut the same flat tensor at the same place.
bool isSameCut(llvm::ArrayRef<int64_t> shape, const Layout &a, const Layout &b);
using graph::shapeOf;

/// The states of values, and the states of an op's results by the factor table.
class RankStates {
public:
  explicit RankStates(int64_t tp) : tp(tp) {}

protected:
  using States = llvm::SmallVectorImpl<State>;

  const State &of(mlir::Value value) { return states[value]; }
  /// Fails with a gate's message if the op does not allow its operands' states.
  llvm::LogicalResult inferByFactors(mlir::Operation *op, States &results);
  llvm::LogicalResult refusePartial(mlir::Operation *op);

  llvm::LogicalResult inferOp(graph::ConstantOp op, States &results);
  llvm::LogicalResult inferOp(graph::IotaOp op, States &results);
  llvm::LogicalResult inferOp(graph::ReshapeOp op, States &results);
  llvm::LogicalResult inferOp(graph::BroadcastOp op, States &results);
  llvm::LogicalResult inferOp(graph::GatherOp op, States &results);
  llvm::LogicalResult inferOp(graph::ScatterAddOp op, States &results);
  llvm::LogicalResult inferOp(graph::AttentionOp op, States &results);
  llvm::LogicalResult inferOp(graph::AttentionBackwardOp op, States &results);

  /// Whether the group is that of the `parts` pieces, each of which `within` ranks share.
  bool isPartsGroup(dist::GroupAttr group, int64_t parts, int64_t within = 1);

  int64_t tp;
  llvm::DenseMap<mlir::Value, State> states;

private:
  template <typename OpT> llvm::LogicalResult inferAttention(OpT op, States &results);
  uint64_t uniformOf(mlir::Operation *op, unsigned result);
  llvm::LogicalResult cutRepeated(mlir::Operation *op, State &state);
  llvm::LogicalResult inferMask(graph::SelectOp select, States &results);
  llvm::LogicalResult inferIndex(mlir::Operation *op, States &results);
  llvm::LogicalResult inferPieces(mlir::Operation *op, States &results);
  bool agrees(mlir::Operation *op, const Spread &found);
  llvm::LogicalResult conclude(mlir::Operation *op, const Spread &found, bool isPartial, States &results);
  std::optional<bool> isLinear(mlir::Operation *op);
};

/// The op that the gate of Shard rejects in one rank's function: the first op, or the function itself; null if it
/// accepts the function. Nothing is reported.
mlir::Operation *findRefused(mlir::func::FuncOp function, int64_t tp);

} // namespace xlc::shard

#endif
