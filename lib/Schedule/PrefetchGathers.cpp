// Moves gathers ahead of their use, so that the network works while the ranks compute. The decision is made at compile
// time, so that the memory of prefetched parameters is part of the plan.
#include "xlc/Schedule/Schedule.h"

namespace xlc {
#define GEN_PASS_DEF_PREFETCHGATHERSPASS
#include "xlc/Schedule/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::sched;
using xlc::dist::CollectiveKind;

namespace {

bool isGather(Operation *op) { return bool(asCollective(op, CollectiveKind::all_gather)); }

StringAttr bucketOf(Operation &op) {
  auto action = dyn_cast<BucketAction>(op);
  return action ? action.getBucketAttr().getAttr() : StringAttr();
}

struct PrefetchGathersPass : xlc::impl::PrefetchGathersPassBase<PrefetchGathersPass> {
  using PrefetchGathersPassBase::PrefetchGathersPassBase;

  void runOnOperation() override {
    for (auto bucket : getOperation().getOps<BucketOp>())
      if (bucket.getParams() == Extent::shard)
        wholeBytes[bucket.getSymNameAttr()] = bucket.getParameterBytes(bucket.getElements());
    for (auto timeline : getOperation().getOps<TimelineOp>()) {
      measure(timeline);
      for (auto gather : llvm::make_early_inc_range(timeline.getBody().front().getOps<CollectiveOp>()))
        if (isGather(gather) && wholeBytes.contains(gather.getBucketAttr().getAttr()))
          hoist(gather);
    }
  }

private:
  /// Gathered bytes live before each action, in the order as it stands.
  void measure(TimelineOp timeline) {
    int64_t live = 0;
    liveBefore.clear();
    for (Operation &op : timeline.getBody().front()) {
      liveBefore[&op] = live;
      int64_t bytes = wholeBytes.lookup(bucketOf(op));
      live += isGather(&op) ? bytes : isa<ReleaseOp>(op) ? -bytes : 0;
    }
  }

  void hoist(CollectiveOp gather) {
    StringAttr bucket = gather.getBucketAttr().getAttr();
    int64_t size = wholeBytes.lookup(bucket), crossed = 0;
    Operation *target = gather, *before = gather->getPrevNode();
    for (; before; before = before->getPrevNode()) {
      crossed += isa<RunOp>(before);
      bool isInTheWay = bucketOf(*before) == bucket || isGather(before) || crossed > units ||
                        (bytes > 0 && liveBefore.lookup(before) + size > bytes);
      if (isInTheWay)
        break;
      if (isa<RunOp>(before))
        target = before;
    }
    if (auto release = dyn_cast_or_null<ReleaseOp>(before); release && bucketOf(*before) == bucket && crossed <= units)
      return keep(release, gather);
    if (target == gather)
      return;
    for (Operation *op = target; op != gather; op = op->getNextNode())
      liveBefore[op] += size;
    liveBefore[gather] = liveBefore.lookup(target) - size;
    gather->moveBefore(target);
  }

  /// What would be gathered again as soon as it is released stays: the same memory, less traffic.
  void keep(ReleaseOp release, CollectiveOp gather) {
    int64_t size = wholeBytes.lookup(gather.getBucketAttr().getAttr());
    for (Operation *op = release->getNextNode(); op != gather; op = op->getNextNode())
      liveBefore[op] += size;
    release.erase();
    gather.erase();
  }

  llvm::DenseMap<StringAttr, int64_t> wholeBytes; ///< of sharded buckets
  llvm::DenseMap<Operation *, int64_t> liveBefore;
};

} // namespace
