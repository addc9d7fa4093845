// Ops keep their kind; their types, and attributes that depend on sizes, become local. A few become several ops if a
// dimension that they index is split.
#include "LocalOps.h"
#include "RankStates.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

static bool isSplitAt(const Layout &layout, int64_t dim) { return layout.isSplit() && layout.dim == dim; }

SmallVector<Value> LocalOps::write(Operation *op, ArrayRef<Value> operands, const Spread &layouts, Operation *like) {
  Emitter emit(builder, like, tp);
  SmallVector<Value> results = writeSeveral(op, operands, layouts, emit);
  if (!results.empty())
    return results;
  Operation *local = clone(op, operands, layouts);
  emit.adopt(local);
  if (auto iota = dyn_cast<IotaOp>(local); iota && isSplitAt(layouts.results[0], iota.getDimension()))
    return {shift(iota, layouts.results[0], emit)};
  return SmallVector<Value>(local->getResults());
}

SmallVector<Value> LocalOps::writeSeveral(Operation *op, ArrayRef<Value> operands, const Spread &layouts,
                                          Emitter &emit) {
  if (auto lookup = dyn_cast<GatherOp>(op); lookup && isSplitAt(layouts.operands[0], lookup.getDimension()))
    return {emitLookup(emit, lookup, operands[0], operands[1], layouts.operands[0])};
  if (auto scatter = dyn_cast<ScatterAddOp>(op); scatter && isSplitAt(layouts.results[0], scatter.getDimension()))
    return {emitScatter(emit, scatter, operands[0], operands[1], layouts.results[0])};
  if (auto loss = dyn_cast<CrossEntropyOp>(op); loss && layouts.operands[0].isSplit()) {
    SplitLoss &split = losses[loss.getLse()];
    split = emitCrossEntropy(emit, loss, operands[0], operands[1], layouts.operands[0]);
    return {split.sum, split.count, split.lse};
  }
  if (auto loss = dyn_cast<CrossEntropyBackwardOp>(op); loss && layouts.operands[0].isSplit())
    return {emitCrossEntropyBackward(emit, loss, operands[0], operands[1], operands[3], losses[loss.getLse()],
                                     layouts.operands[0])};
  return {};
}

Operation *LocalOps::clone(Operation *op, ArrayRef<Value> operands, const Spread &layouts) {
  IRMapping mapping;
  mapping.map(op->getOperands(), operands);
  Operation *local = builder.clone(*op, mapping);
  for (auto [result, global, layout] : llvm::zip(local->getResults(), op->getResults(), layouts.results))
    result.setType(localType(global.getType(), layout));
  if (layouts.results.empty() || !layouts.results[0].isSplit())
    return local;
  const Layout &layout = layouts.results[0];
  if (auto slice = dyn_cast<SliceOp>(local)) {
    SmallVector<int64_t> offsets(slice.getOffsets());
    offsets[layout.dim] /= layout.parts; // whole runs, or nothing
    slice.setOffsets(offsets);
  }
  if (auto reshape = dyn_cast<ReshapeOp>(local))
    nameCut(reshape, layout);
  auto iota = dyn_cast<IotaOp>(local);
  bool isRepeated = isa<ConstantOp>(local) || (iota && !isSplitAt(layout, iota.getDimension())) ||
                    (isa<BroadcastOp>(local) && !layouts.operands[0].isSplit());
  if (isRepeated)
    local->setAttr(kCut, builder.getDenseI64ArrayAttr({layout.dim, layout.outer, layout.parts}));
  if (auto constant = dyn_cast<ConstantOp>(local))
    constant.setValueAttr(
        cast<DenseElementsAttr>(constant.getValue()).resizeSplat(cast<RankedTensorType>(constant.getY().getType())));
  return local;
}

/// Counting goes on where the rank before ends.
Value LocalOps::shift(IotaOp iota, const Layout &layout, Emitter &emit) {
  assert(layout.outer == 1 && "a rule of iota");
  auto type = cast<RankedTensorType>(iota.getY().getType());
  Value first = emit.firstPlace(partsGroup(builder.getContext(), Layout(), layout, tp), type.getDimSize(layout.dim));
  return emit.add(iota.getY(), emit.broadcast(emit.convert(first, type.getElementType()), type.getShape()));
}
