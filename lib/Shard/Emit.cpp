// Collectives and local slices, written as ops.
#include "Emit.h"
#include "RankStates.h"
#include <cmath>

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

Value Emitter::allReduce(dist::Reduction kind, Value value, dist::GroupAttr group) {
  return create<dist::AllReduceOp>(value.getType(), kind, value, group);
}

Value Emitter::index(dist::GroupAttr group) {
  return create<dist::AxisIndexOp>(RankedTensorType::get({}, b.getI64Type()), group);
}

Value Emitter::firstPlace(dist::GroupAttr group, int64_t count) {
  return mul(index(group), scalar(double(count), b.getI64Type()));
}

Value Emitter::places(dist::GroupAttr group, int64_t count, int64_t size) {
  Value first = firstPlace(group, count);
  Value places = add(iota({count}, 0), broadcast(first, Sizes{count}));
  return count * group.size() <= size ? places : min(places, double(size - 1));
}

/// [.., outer * n, ..] as [.., outer, n, ..].
static SmallVector<int64_t> withRuns(ArrayRef<int64_t> shape, int64_t dim, int64_t outer) {
  SmallVector<int64_t> runs(shape);
  runs[dim] = outer;
  runs.insert(runs.begin() + dim + 1, shape[dim] / outer);
  return runs;
}

/// One block of each run.
Value Emitter::takeBlock(Value value, RankedTensorType global, const Step &step) {
  dist::GroupAttr group = partsGroup(b.getContext(), step.from, step.to, tp);
  int64_t dim = step.to.dim, outer = step.to.outer;
  SmallVector<int64_t> to = localShape(global.getShape(), step.to);
  SmallVector<int64_t> runs = withRuns(typeOf(value).getShape(), dim, outer), pieces = withRuns(to, dim, outer);
  int64_t at = outer == 1 ? dim : dim + 1;
  if (outer > 1)
    value = reshape(value, runs);
  Value places = this->places(group, pieces[dim + 1], runs[dim + 1]);
  Value block = reshape(gather(value, places, at), to);
  if (auto merged = block.getDefiningOp<ReshapeOp>())
    nameCut(merged, step.to);
  return block;
}

/// All blocks of each run; what stands beyond the end of the last goes.
Value Emitter::gatherBlocks(Value value, RankedTensorType global, const Step &step) {
  dist::GroupAttr group = partsGroup(b.getContext(), step.to, step.from, tp);
  SmallVector<int64_t> shape(typeOf(value).getShape()), to = localShape(global.getShape(), step.to);
  shape[step.from.dim] *= group.size();
  Value all = create<dist::AllGatherOp>(typeOf(value).clone(shape), value, step.from.dim, step.from.outer, group);
  if (shape == to)
    return all;
  return slice(all, SmallVector<int64_t>(shape.size(), 0), to);
}

Value Emitter::reshard(Value value, RankedTensorType global, const Step &step) {
  MLIRContext *context = b.getContext();
  switch (step.kind) {
  case Step::Kind::AllReduce:
    return allReduce(dist::Reduction::sum, value, copiesGroup(context, step.from, tp));
  case Step::Kind::ReduceScatter:
    return create<dist::ReduceScatterOp>(localType(global, step.to), value, step.to.dim, step.to.outer,
                                         partsGroup(context, step.from, step.to, tp));
  case Step::Kind::AllGather:
    return gatherBlocks(value, global, step);
  case Step::Kind::AllToAll:
    return create<dist::AllToAllOp>(localType(global, step.to), value, step.from.dim, step.from.outer, step.to.dim,
                                    step.to.outer, partsGroup(context, Layout(), step.from, tp));
  case Step::Kind::Slice:
    return takeBlock(value, global, step);
  }
  llvm_unreachable("all steps are named");
}
