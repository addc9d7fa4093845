// Collectives and local slices, written as ops.
#include "Emit.h"
#include <cmath>

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Value Emitter::annotate(Operation *op) {
  for (StringRef name : {kUnit, kRole})
    if (Attribute attribute = like->getAttr(name))
      op->setAttr(name, attribute);
  return op->getResult(0);
}

Value Emitter::constant(RankedTensorType type, double value) {
  Attribute element = type.getElementType().isInteger()
                          ? Attribute(builder.getIntegerAttr(type.getElementType(), int64_t(value)))
                          : Attribute(builder.getFloatAttr(type.getElementType(), value));
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value number = annotate(ConstantOp::create(builder, like->getLoc(), scalar, DenseElementsAttr::get(scalar, element)));
  return broadcast(number, type.getShape());
}

Value Emitter::broadcast(Value value, ArrayRef<int64_t> shape) {
  return typeOf(value).getShape() == shape ? value : create<BroadcastOp>(typeOf(value).clone(shape), value);
}
Value Emitter::reshape(Value value, ArrayRef<int64_t> shape) {
  return typeOf(value).getShape() == shape ? value : create<ReshapeOp>(typeOf(value).clone(shape), value);
}
Value Emitter::cast(Value value, Type element) {
  return typeOf(value).getElementType() == element ? value : create<CastOp>(typeOf(value).clone(element), value);
}
Value Emitter::compare(Predicate predicate, Value a, Value b) {
  return create<CompareOp>(typeOf(a).clone(builder.getI1Type()), predicate, a, b);
}
Value Emitter::select(Value condition, Value a, Value b) { return create<SelectOp>(typeOf(a), condition, a, b); }

Value Emitter::binary(StringRef op, Value a, Value b) {
  OperationState state(like->getLoc(), op, {a, b}, {a.getType()});
  return annotate(builder.create(state));
}

Value Emitter::allReduce(dist::Reduction kind, Value value, dist::GroupAttr group) {
  return create<dist::AllReduceOp>(typeOf(value), kind, value, group);
}

Value Emitter::index(dist::GroupAttr group) {
  return create<dist::AxisIndexOp>(RankedTensorType::get({}, builder.getI64Type()), group);
}

Value Emitter::places(dist::GroupAttr group, int64_t count, int64_t size) {
  auto type = RankedTensorType::get({count}, builder.getI64Type());
  Value first = binary("graph.mul", index(group), constant(RankedTensorType::get({}, type.getElementType()), count));
  Value places = binary("graph.add", create<IotaOp>(type, 0), broadcast(first, {count}));
  return count * group.size() <= size ? places : binary("graph.min", places, constant(type, size - 1));
}

/// [.., outer * n, ..] as [.., outer, n, ..].
static SmallVector<int64_t> withRuns(ArrayRef<int64_t> shape, int64_t dim, int64_t outer) {
  SmallVector<int64_t> runs(shape);
  runs[dim] = outer;
  runs.insert(runs.begin() + dim + 1, shape[dim] / outer);
  return runs;
}

/// One block of each run.
Value Emitter::slice(Value value, RankedTensorType global, const Step &step) {
  dist::GroupAttr group = partsGroup(builder.getContext(), step.from, step.to, tp);
  int64_t dim = step.to.dim, outer = step.to.outer;
  SmallVector<int64_t> to = localShape(global.getShape(), step.to);
  SmallVector<int64_t> runs = withRuns(typeOf(value).getShape(), dim, outer), pieces = withRuns(to, dim, outer);
  int64_t at = outer == 1 ? dim : dim + 1;
  if (outer > 1)
    value = reshape(value, runs);
  Value places = this->places(group, pieces[dim + 1], runs[dim + 1]);
  Value taken = create<GatherOp>(typeOf(value).clone(outer == 1 ? to : pieces), value, places, at);
  return reshape(taken, to);
}

/// All blocks of each run; what stands beyond the end of the last goes.
Value Emitter::gather(Value value, RankedTensorType global, const Step &step) {
  dist::GroupAttr group = partsGroup(builder.getContext(), step.to, step.from, tp);
  SmallVector<int64_t> shape(typeOf(value).getShape()), to = localShape(global.getShape(), step.to);
  shape[step.from.dim] *= group.size();
  Value all = create<dist::AllGatherOp>(typeOf(value).clone(shape), value, step.from.dim, step.from.outer, group);
  if (shape == to)
    return all;
  SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
  return create<SliceOp>(typeOf(value).clone(to), all, offsets, strides);
}

Value Emitter::reshard(Value value, RankedTensorType global, const Step &step) {
  MLIRContext *context = builder.getContext();
  switch (step.kind) {
  case Step::Kind::AllReduce:
    return allReduce(dist::Reduction::sum, value, copiesGroup(context, step.from, tp));
  case Step::Kind::ReduceScatter:
    return create<dist::ReduceScatterOp>(localType(global, step.to), value, step.to.dim, step.to.outer,
                                         partsGroup(context, step.from, step.to, tp));
  case Step::Kind::AllGather:
    return gather(value, global, step);
  case Step::Kind::AllToAll:
    return create<dist::AllToAllOp>(localType(global, step.to), value, step.from.dim, step.from.outer, step.to.dim,
                                    step.to.outer, partsGroup(context, Layout(), step.from, tp));
  case Step::Kind::Slice:
    return slice(value, global, step);
  }
  llvm_unreachable("all steps are named");
}
