// Translates entries to one timeline per pipeline stage and purpose: the schedule gives the order of slots, the borders
// between stages give the messages, buckets give the gathers and reductions (StageTimeline.cpp).
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
    int64_t messages = 0;
    for (graph::Entry entry : graph::Entry::all(getOperation()))
      if (failed(insert(entry, messages)))
        return signalPassFailure();
    if (func::FuncOp update = graph::findUpdate(getOperation()))
      update.erase();
  }

private:
  /// `messages`: how many there are before those of this purpose.
  LogicalResult insert(graph::Entry entry, int64_t &messages) {
    Step step;
    step.module = getOperation(), step.entry = entry, step.firstMessage = messages;
    if (failed(understand(step)))
      return failure();
    messages += int64_t(step.transfers.size());
    OpBuilder builder = OpBuilder::atBlockEnd(step.module.getBody());
    int64_t pp = step.mesh.getPp();
    std::string name = stringifyPurpose(entry.getPurpose()).str();
    SmallVector<Attribute> sums, types;
    for (OpOperand *sum : entry.getSums()) {
      sums.push_back(builder.getStringAttr("@" + entry.getSumName(*sum).getValue()));
      types.push_back(TypeAttr::get(sum->get().getType()));
    }
    auto orNone = [&](ArrayRef<Attribute> list) { return list.empty() ? ArrayAttr() : builder.getArrayAttr(list); };
    for (int64_t stage = 0; stage < pp; ++stage) {
      auto timeline =
          TimelineOp::create(builder, entry.getFunction().getLoc(), pp > 1 ? name + "_" + std::to_string(stage) : name,
                             stage, microBatches, entry.getPurpose(), orNone(sums), orNone(types));
      timeline.getBody().emplaceBlock();
      buildTimeline(step, timeline);
    }
    entry.getFunction().erase();
    return success();
  }

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
                                     << " does not match the stages of the module";
    step.runs = findRuns(step.entry, step.schedule->splitsBackward);
    step.order =
        step.entry.isTraining() ? makeOrder(*step.schedule, step.shape) : makeForwardOrder(*step.schedule, step.shape);
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
