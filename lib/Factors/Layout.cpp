// The algebra of layouts: local shapes, groups, and the steps between two layouts.
#include "xlc/Factors/Layout.h"

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
  case Kind::AllToAll:
    return share(sizeOf(from), from.parts);
  case Kind::Slice:
    return 0;
  }
  llvm_unreachable("all steps are named");
}

namespace {

/// Walks from one layout to another, each step the one that makes the rest cheapest.
class Path {
public:
  Path(ArrayRef<int64_t> shape, const Layout &from, const Layout &to, int64_t tp)
      : shape(shape), now(from), to(to), tp(tp) {}

  SmallVector<Step, 3> run() {
    if (now.isPartial)
      makeSum();
    if (now != to && now.isSplit() && to.isSplit() && !isRefinedBy(now, to) && !isRefinedBy(to, now))
      turn();
    if (now != to && now.isSplit() && !isRefinedBy(now, to))
      step(Step::Kind::AllGather, isRefinedBy(to, now) ? to : Layout::replicated());
    if (now != to)
      step(Step::Kind::Slice, to);
    return std::move(steps);
  }

private:
  void step(Step::Kind kind, const Layout &next) {
    steps.push_back({kind, now, next});
    now = next;
  }

  /// Short blocks refine the whole only: 3 + 3 is not 2 + 2 + 2 + 0.
  bool isRefinedBy(const Layout &coarse, const Layout &fine) const {
    return fine.isSplit() && fine.parts % coarse.parts == 0 &&
           (!coarse.isSplit() || (coarse.dim == fine.dim && coarse.outer == fine.outer && isEven(shape, fine)));
  }

  /// Whether all ranks can have a piece of their own along the cut of a layout, or as many as `parts` say.
  bool canCut(const Layout &layout, int64_t parts) const {
    return layout.isSplit() && isEven(shape, Layout::split(layout.dim, layout.outer, parts));
  }
  static Layout cutInto(const Layout &layout, int64_t parts) { return Layout::split(layout.dim, layout.outer, parts); }

  /// A sum that stays whole is an all_reduce; of one that is cut, each rank makes its own piece.
  void makeSum() {
    bool isFiner = to.isSplit() && to.parts > now.parts && isRefinedBy(now, to);
    bool isTurned = to.isSplit() && now.isSplit() && to.dim != now.dim && canCut(to, tp);
    if ((isFiner && canCut(to, tp)) || (isTurned && canCut(now, tp)))
      step(Step::Kind::ReduceScatter, cutInto(isFiner ? to : now, tp));
    else
      step(Step::Kind::AllReduce, now.summed());
  }

  /// From one dimension to another.
  void turn() {
    int64_t fine = std::max(now.parts, to.parts), coarse = std::min(now.parts, to.parts);
    if (now.dim == to.dim || fine % coarse != 0 || !isEven(shape, now) || !isEven(shape, to))
      return;
    int64_t parts = canCut(now, fine) && canCut(to, fine) ? fine : coarse;
    if (!canCut(now, parts) || !canCut(to, parts))
      return;
    if (parts > now.parts)
      step(Step::Kind::Slice, cutInto(now, parts));
    else if (parts < now.parts)
      step(Step::Kind::AllGather, cutInto(now, parts));
    step(Step::Kind::AllToAll, cutInto(to, parts));
  }

  ArrayRef<int64_t> shape;
  Layout now, to;
  int64_t tp;
  SmallVector<Step, 3> steps;
};

} // namespace

std::optional<SmallVector<Step, 3>> shard::findPath(ArrayRef<int64_t> shape, const Layout &from, const Layout &to,
                                                    int64_t tp) {
  bool hasRuns = from.outer > 1 || to.outer > 1;
  if (from == to)
    return SmallVector<Step, 3>();
  if (to.isPartial || (hasRuns && (!isEven(shape, from) || !isEven(shape, to))))
    return std::nullopt;
  return Path(shape, from, to, tp).run();
}
