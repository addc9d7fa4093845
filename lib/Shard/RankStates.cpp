// Computes an op's result states from its operands' states by the factor table.
#include "RankStates.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

int64_t shard::aboveOf(ArrayRef<int64_t> shape, const Layout &layout) {
  int64_t above = layout.outer;
  for (int64_t size : shape.take_front(layout.dim))
    above *= size;
  return above;
}

std::optional<Layout> shard::layoutAt(ArrayRef<int64_t> shape, int64_t above, const Layout &like) {
  for (bool begins : {true, false}) {
    int64_t begin = 1;
    for (auto [dim, size] : llvm::enumerate(shape)) {
      if (begins ? begin == above : above % begin == 0 && above > begin && size % (above / begin) == 0)
        return Layout{int64_t(dim), above / begin, like.parts, like.isPartial};
      begin *= size;
    }
  }
  return std::nullopt;
}

bool shard::isSameCut(ArrayRef<int64_t> shape, const Layout &a, const Layout &b) {
  return a.parts == b.parts && a.isSplit() == b.isSplit() && (!a.isSplit() || aboveOf(shape, a) == aboveOf(shape, b));
}

LogicalResult RankStates::inferByFactors(Operation *op, States &results) {
  if (auto select = dyn_cast<SelectOp>(op); select && of(select.getA()).kind == State::Kind::Found)
    return inferMask(select, results);
  bool isIndexed = false, hasPieces = false;
  for (Value operand : op->getOperands()) {
    State::Kind kind = of(operand).kind;
    isIndexed |= kind == State::Kind::Index;
    hasPieces |= of(operand).isPiece();
    if (kind == State::Kind::Max || kind == State::Kind::Found)
      return rejectOp(op) << "uses a result of one rank as if it were equal on all ranks";
  }
  if (hasPieces)
    return inferPieces(op, results);
  if (isIndexed)
    return inferIndex(op, results);
  std::optional<bool> isPartial = isLinear(op);
  if (!isPartial)
    return refusePartial(op);
  for (auto [number, state] : llvm::enumerate(results)) {
    state.layout.isPartial = *isPartial;
    state.uniform = uniformOf(op, number);
  }
  return success();
}

/// Of a result, the dimensions along which all of it is equal. By the factor table: a slice along a dimension is made
/// of the operands' slices along theirs, so where these are equal, it is, unless the op counts or compares places.
uint64_t RankStates::uniformOf(Operation *op, unsigned result) {
  bool keepsConstants = isElementwise(op) || (op->getNumOperands() == 1 && isMovement(op));
  if (keepsConstants && llvm::all_of(op->getOperands(), [&](Value x) { return of(x).uniform == kAllDimensions; }))
    return kAllDimensions;
  if (isa<SliceOp>(op))
    return of(op->getOperand(0)).uniform; // of equal elements it takes some
  uint64_t uniform = 0;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op->getResult(result)))) {
    Layout single = Layout::split(dim, 1, std::max<int64_t>(size, 2));
    std::optional<Spread> found = spread(op, {op->getNumOperands() + result, single, tp});
    bool isEqual = found && !found->isPlaced && !found->isSum &&
                   llvm::all_of(llvm::zip(op->getOperands(), found->operands), [&](auto pair) {
                     auto [operand, layout] = pair;
                     return !layout.isSplit() || of(operand).uniform >> layout.dim & 1;
                   });
    uniform |= uint64_t(isEqual) << dim;
  }
  return uniform;
}

LogicalResult RankStates::inferMask(SelectOp select, States &results) {
  if (of(select.getCondition()).kind != State::Kind::Index || of(select.getB()).uniform != kAllDimensions)
    return rejectOp(select) << "does not mask the results of a lookup for rows of other ranks";
  results[0].layout = Layout::partial();
  return success();
}

LogicalResult RankStates::inferIndex(Operation *op, States &results) {
  for (Value operand : op->getOperands()) {
    if (of(operand).isPartial())
      return refusePartial(op);
    if (of(operand).kind == State::Kind::Index)
      for (State &state : results)
        state.kind = State::Kind::Index, state.group = of(operand).group;
  }
  return success();
}

/// Some operand is a piece: each way to read it is tried against the other operands.
LogicalResult RankStates::inferPieces(Operation *op, States &results) {
  std::optional<bool> isPartial = isLinear(op);
  if (!isPartial)
    return refusePartial(op);
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    if (!of(operand).isPiece())
      continue;
    Layout layout = of(operand).layout.summed();
    if (auto found = spread(op, {unsigned(number), layout, tp}); found && !found->isPlaced && agrees(op, *found))
      return conclude(op, *found, *isPartial, results);
    auto reduce = dyn_cast<ReduceOp>(op);
    if (reduce && reduce.getKind() == Reduction::max && llvm::is_contained(reduce.getDimensions(), layout.dim)) {
      results[0].kind = State::Kind::Max;
      return success();
    }
  }
  return rejectOp(op) << "has operands whose pieces do not match";
}

bool RankStates::agrees(Operation *op, const Spread &found) {
  for (auto [operand, layout] : llvm::zip(op->getOperands(), found.operands)) {
    const State &state = of(operand);
    if (state.kind == State::Kind::Index)
      continue; // places of a rank's own piece
    // What all ranks have alike, once on each; but not the same element of a larger tensor.
    bool isSingle = layout.isSplit() && shapeOf(operand)[layout.dim] == 1 &&
                    !isa_and_nonnull<SliceOp, GatherOp>(operand.getDefiningOp());
    bool isUniform = layout.isSplit() && state.isWhole() && (isSingle || (state.uniform >> layout.dim & 1));
    if (!isUniform && !isSameCut(shapeOf(operand), layout, state.layout))
      return false;
  }
  return true;
}

LogicalResult RankStates::conclude(Operation *op, const Spread &found, bool isPartial, States &results) {
  if (found.isSum) {
    for (const Layout &layout : found.operands)
      if (layout.isSplit() && layout.parts != tp && !isPartial)
        return rejectOp(op) << "sums over " << layout.parts << " pieces on " << tp
                            << " ranks, so that each piece is counted more than once";
    for (State &state : results)
      state.layout = Layout::partial();
    return success();
  }
  for (auto [layout, state] : llvm::zip(found.results, results)) {
    state.layout = layout;
    state.layout.isPartial = isPartial;
  }
  return success();
}

/// Whether results are partial; none where the op is not linear in the operands that are.
std::optional<bool> RankStates::isLinear(Operation *op) {
  uint32_t partial = 0;
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    partial |= uint32_t(of(operand).isPartial()) << number;
  if (!partial)
    return false;
  for (uint32_t set : getLinearSets(op))
    if (partial == set)
      return true;
  return std::nullopt;
}

LogicalResult RankStates::refusePartial(Operation *op) {
  return rejectOp(op) << "uses a partial sum as a complete one";
}
