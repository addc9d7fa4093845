// The algebra of layouts: local shapes, groups, and the steps between two layouts.
#include "Layout.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;

SmallVector<int64_t> shard::localShape(ArrayRef<int64_t> shape, const Layout &layout) {
  SmallVector<int64_t> local(shape);
  if (layout.isSplit()) {
    int64_t run = shape[layout.dim] / layout.outer;
    local[layout.dim] = layout.outer * ((run + layout.parts - 1) / layout.parts);
  }
  return local;
}

RankedTensorType shard::localType(Type type, const Layout &layout) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(localShape(tensor.getShape(), layout));
}

bool shard::isEven(ArrayRef<int64_t> shape, const Layout &layout) {
  return !layout.isSplit() || shape[layout.dim] % (layout.outer * layout.parts) == 0;
}

dist::GroupAttr shard::partsGroup(MLIRContext *context, const Layout &coarse, const Layout &fine, int64_t tp) {
  return dist::GroupAttr::tensorParallel(context, fine.parts / coarse.parts, tp / fine.parts);
}

dist::GroupAttr shard::copiesGroup(MLIRContext *context, const Layout &layout, int64_t tp) {
  return dist::GroupAttr::tensorParallel(context, tp / layout.parts);
}

int64_t Step::bytes(RankedTensorType global, int64_t tp) const {
  auto sizeOf = [&](const Layout &layout) { return graph::getByteSize(localType(global, layout)); };
  auto share = [](int64_t bytes, int64_t ranks) { return bytes / ranks * (ranks - 1); };
  switch (kind) {
  case Kind::AllReduce:
    return 2 * share(sizeOf(from), tp / from.parts);
  case Kind::ReduceScatter:
    return share(sizeOf(from), to.parts / from.parts);
  case Kind::AllGather:
    return share(sizeOf(to), from.parts / to.parts);
  case Kind::Slice:
    return 0;
  }
  llvm_unreachable("all steps are named");
}

std::optional<SmallVector<Step, 2>> shard::findPath(ArrayRef<int64_t> shape, const Layout &from, const Layout &to,
                                                    int64_t tp) {
  SmallVector<Step, 2> steps;
  Layout now = from;
  auto step = [&](Step::Kind kind, const Layout &next) {
    steps.push_back({kind, now, next});
    now = next;
  };
  // Short blocks refine the whole only: 3 + 3 is not 2 + 2 + 2 + 0.
  auto isRefinedBy = [&](const Layout &coarse, const Layout &fine) {
    return fine.isSplit() && fine.parts % coarse.parts == 0 &&
           (!coarse.isSplit() || (coarse.dim == fine.dim && coarse.outer == fine.outer && isEven(shape, fine)));
  };
  if (now == to)
    return steps;
  if (to.isPartial || ((now.outer > 1 || to.outer > 1) && (!isEven(shape, now) || !isEven(shape, to))))
    return std::nullopt;
  if (now.isPartial && to.parts == tp && isRefinedBy(now, to) && isEven(shape, to))
    step(Step::Kind::ReduceScatter, to);
  else if (now.isPartial)
    step(Step::Kind::AllReduce, now.summed());
  if (now.isSplit() && now != to && !isRefinedBy(now, to))
    step(Step::Kind::AllGather, isRefinedBy(to, now) ? to : Layout::replicated());
  if (now != to)
    step(Step::Kind::Slice, to);
  return steps;
}
