// Ops whose states do not follow from the factor table alone: splits move through reshapes, rows are looked up by
// indices that differ by rank, and heads have their own distribution over ranks.
#include "RankStates.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

bool RankStates::isPartsGroup(dist::GroupAttr group, int64_t parts, int64_t within) {
  return group == dist::GroupAttr::tensorParallel(group.getContext(), parts / within, tp / parts);
}

LogicalResult RankStates::inferOp(ConstantOp op, States &results) {
  results[0].uniform = op.getValue().isSplat() ? kAllDimensions : 0;
  results[0].isZero = isZero(op.getY());
  return cutRepeated(op, results[0]);
}

LogicalResult RankStates::inferOp(IotaOp op, States &results) {
  results[0].uniform = uniformOf(op, 0);
  return cutRepeated(op, results[0]);
}

/// What is equal along a dimension, and says that it is each rank's piece of more that is: a sum over it is one of the
/// ranks' terms.
LogicalResult RankStates::cutRepeated(Operation *op, State &state) {
  auto cut = op->getAttrOfType<DenseI64ArrayAttr>(kCut);
  if (!cut || state.kind != State::Kind::Same)
    return success();
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  bool isRepeated = cut.size() == 3 && cut[0] >= 0 && cut[0] < int64_t(shape.size()) && (state.uniform >> cut[0] & 1);
  if (!isRepeated || cut[1] < 1 || shape[cut[0]] % cut[1] != 0 || cut[2] < 2 || tp % cut[2] != 0)
    return rejectOp(op) << "has " << kCut << ", which does not match its result";
  if (state.isPartial())
    return refusePartial(op);
  state.layout = Layout::split(cut[0], cut[1], cut[2]);
  return success();
}

LogicalResult RankStates::inferOp(ReshapeOp op, States &results) {
  results[0] = of(op.getX());
  results[0].uniform = results[0].isWhole() ? uniformOf(op, 0) : 0;
  if (!results[0].isPiece())
    return success();
  int64_t above = aboveOf(shapeOf(op.getX()), results[0].layout);
  std::optional<Layout> layout = layoutAt(shapeOf(op.getY()), above, results[0].layout);
  if (auto cut = op->getAttrOfType<DenseI64ArrayAttr>(kCut); cut && cut.size() == 2) {
    Layout said{cut[0], cut[1], results[0].layout.parts, results[0].layout.isPartial};
    bool isThere = cut[0] >= 0 && cut[0] < int64_t(shapeOf(op.getY()).size());
    layout = isThere && aboveOf(shapeOf(op.getY()), said) == above ? std::optional(said) : std::nullopt;
  }
  if (!layout)
    return rejectOp(op) << "has a result that cannot be split like its operand";
  results[0].layout = *layout;
  return success();
}

void shard::nameCut(ReshapeOp reshape, const Layout &layout) {
  ArrayRef<int64_t> shape = reshape.getType().getShape();
  if (layoutAt(shape, aboveOf(shape, layout), layout) != layout)
    reshape->setAttr(kCut, DenseI64ArrayAttr::get(reshape.getContext(), {layout.dim, layout.outer}));
}

/// What is repeated is equal along the new dimensions.
LogicalResult RankStates::inferOp(BroadcastOp op, States &results) {
  State state = of(op.getX());
  ArrayRef<int64_t> x = shapeOf(op.getX()), y = shapeOf(op.getY());
  if (state.isPiece())
    return inferByFactors(op, results);
  uint64_t uniform = 0;
  for (size_t dim = 0; dim < y.size(); ++dim) {
    int64_t own = int64_t(dim) - int64_t(y.size() - x.size());
    bool isRepeated = own < 0 || x[own] != y[dim] || x[own] == 1;
    uniform |= uint64_t(isRepeated || state.uniform >> own & 1) << dim;
  }
  state.uniform = state.uniform == kAllDimensions ? kAllDimensions : uniform;
  results[0] = state;
  return cutRepeated(op, results[0]);
}

/// Indices that differ by rank take a rank's piece of what all have, or find their rows among a rank's own.
LogicalResult RankStates::inferOp(GatherOp op, States &results) {
  State table = of(op.getTable()), indices = of(op.getIndices());
  if (indices.kind != State::Kind::Index)
    return inferByFactors(op, results);
  Layout rows = Layout::split(op.getDimension(), 1, table.parts());
  bool isFlat = op.getDimension() == 0 && shapeOf(op.getTable()).size() == 1; // with places of whole rows
  if (table.isPiece() && !table.isPartial() && isPartsGroup(indices.group, table.parts()) &&
      (isFlat || isSameCut(shapeOf(op.getTable()), rows, table.layout))) {
    results[0].kind = State::Kind::Found;
    results[0].group = indices.group;
    return success();
  }
  int64_t parts = table.parts() * indices.group.size();
  if (table.kind != State::Kind::Same || table.isPartial() || !isPartsGroup(indices.group, parts, table.parts()))
    return rejectOp(op) << "has indices that can refer to rows of other ranks";
  results[0] = State::of(Layout::split(op.getDimension(), 1, parts));
  return success();
}

LogicalResult RankStates::inferOp(ScatterAddOp op, States &results) {
  State indices = of(op.getIndices()), updates = of(op.getUpdates());
  if (indices.kind != State::Kind::Index)
    return inferByFactors(op, results);
  if (updates.kind != State::Kind::Index)
    return rejectOp(op) << "adds rows that this rank does not own";
  results[0] = State::of(Layout::split(op.getDimension(), 1, indices.group.size()));
  return success();
}

template <typename OpT> LogicalResult RankStates::inferAttention(OpT op, States &results) {
  constexpr bool isBackward = std::is_same_v<OpT, AttentionBackwardOp>;
  State q = of(op.getQ()), k = of(op.getK());
  if (llvm::any_of(op->getOperands(), [&](Value operand) { return of(operand).isPartial(); }))
    return refusePartial(op);
  bool isFine = true;
  auto expect = [&](Value value, int64_t dim, int64_t parts) {
    const State &state = of(value);
    isFine &= state.kind == State::Kind::Same && isSameCut(shapeOf(value), Layout::split(dim, 1, parts), state.layout);
  };
  expect(op.getQ(), 2, q.parts());
  expect(op.getK(), 2, k.parts());
  expect(op.getV(), 2, k.parts());
  if (Value bias = op.getBias(); bias && !of(bias).isWhole())
    expect(bias, 1, q.parts());
  if (op.getDraws())
    expect(op.getDraws(), 1, q.parts());
  if constexpr (isBackward) {
    expect(op.getOut(), 2, q.parts());
    expect(op.getLse(), 1, q.parts());
    expect(op.getDout(), 2, q.parts());
  }
  if (!isFine || q.parts() % k.parts() != 0)
    return rejectOp(op) << "has operands whose heads are split differently";
  for (auto [result, state] : llvm::zip(op->getResults(), results)) {
    bool isLse = !isBackward && result.getResultNumber() == 1, isKey = isBackward && result.getResultNumber() > 0;
    state.layout = Layout::split(isLse ? 1 : 2, 1, isKey ? k.parts() : q.parts());
    state.layout.isPartial = isKey && k.parts() < q.parts();
  }
  return success();
}

LogicalResult RankStates::inferOp(AttentionOp op, States &results) { return inferAttention(op, results); }
LogicalResult RankStates::inferOp(AttentionBackwardOp op, States &results) { return inferAttention(op, results); }
