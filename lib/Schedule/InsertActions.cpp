// From the entry that trains to one timeline per pipeline stage: the schedule gives the order of slots, the borders
// between stages give the messages, buckets give what is gathered and reduced (StageTimeline.cpp).
#include "StageTimeline.h"
#include "xlc/Dialect/Graph/Entry.h"

namespace xlc {
#define GEN_PASS_DEF_INSERTACTIONSPASS
#include "xlc/Schedule/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::sched;

namespace {

struct InsertActionsPass : xlc::impl::InsertActionsPassBase<InsertActionsPass> {
  using InsertActionsPassBase::InsertActionsPassBase;

  void runOnOperation() override {
    Step step;
    step.module = getOperation();
    step.entry = graph::Entry::find(step.module, graph::Purpose::train);
    if (!step.entry)
      return;
    if (failed(understand(step)))
      return signalPassFailure();
    OpBuilder builder = OpBuilder::atBlockEnd(step.module.getBody());
    int64_t pp = step.mesh.getPp();
    for (int64_t stage = 0; stage < pp; ++stage) {
      std::string name = pp > 1 ? "train_" + std::to_string(stage) : "train";
      auto timeline = TimelineOp::create(builder, step.entry.getFunction().getLoc(), name, stage, microBatches);
      timeline.getBody().emplaceBlock();
      buildTimeline(step, timeline);
    }
    step.entry.getFunction().erase();
    if (func::FuncOp update = graph::findUpdate(step.module))
      update.erase();
  }

private:
  LogicalResult understand(Step &step) {
    step.mesh = dist::getMesh(step.module);
    int64_t pp = step.mesh.getPp();
    step.microBatches = microBatches;
    step.keepsGathered = keepGathered;
    auto stages = step.module->getAttrOfType<DenseI64ArrayAttr>(graph::kStages);
    step.schedule = findPipelineSchedule(schedule);
    step.shape = {pp, stages ? stages.size() / pp : 1, microBatches};
    if (!step.schedule || (stages ? stages.size() % pp != 0 : pp != 1) || findMisfit(*step.schedule, step.shape))
      return step.module.emitError() << "schedule '" << schedule.getValue() << "' with pp = " << pp
                                     << " does not fit the stages";
    step.runs = findRuns(step.entry, step.schedule->splitsBackward);
    step.order = makeOrder(*step.schedule, step.shape);
    step.times = simulate(*step.schedule, step.shape, step.order, SlotTimes());
    step.transfers = orderTransfers(findHops(step.runs, *step.schedule, step.shape), step.order, step.times);
    step.buckets = llvm::to_vector(step.module.getOps<BucketOp>());
    for (BucketOp bucket : step.buckets)
      for (Attribute member : bucket.getMembers())
        step.bucketOf[member] = bucket;
    return success();
  }
};

} // namespace
