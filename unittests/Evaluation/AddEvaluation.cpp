// See AddEvaluation.h. What stays of a timeline is found backwards, over all stages: a message is sent on where a
// forward run needs what it brings.
#include "AddEvaluation.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Dialect/Sched/Sched.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::sched;

namespace {

constexpr StringRef kLoss = "evaluation_loss";

/// @evaluation_loss(sum: f32, count) -> f32, as @scalars makes it.
void buildLoss(ModuleOp module) {
  func::FuncOp scalars = graph::findScalars(module);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto f32 = RankedTensorType::get({}, builder.getF32Type()), f64 = RankedTensorType::get({}, builder.getF64Type());
  auto loss = func::FuncOp::create(builder, scalars.getLoc(), kLoss,
                                   builder.getFunctionType(scalars.getArgumentTypes().take_front(2), {f32}));
  builder.setInsertionPointToEnd(loss.addEntryBlock());
  auto widen = [&](Value value) -> Value { return graph::CastOp::create(builder, loss.getLoc(), f64, value); };
  Value mean =
      graph::DivOp::create(builder, loss.getLoc(), f64, widen(loss.getArgument(0)), widen(loss.getArgument(1)));
  func::ReturnOp::create(builder, loss.getLoc(), graph::CastOp::create(builder, loss.getLoc(), f32, mean).getResult());
}

bool isForward(Operation &op) {
  auto run = dyn_cast<RunOp>(op);
  return run && run.getRole() == graph::Role::F;
}

/// The messages that bring what a forward run needs.
DenseSet<int64_t> findForwardMessages(ArrayRef<TimelineOp> timelines) {
  DenseSet<int64_t> needed;
  auto isNeeding = [&](Operation *op) {
    auto send = dyn_cast<SendOp>(op);
    return isForward(*op) || (send && needed.contains(send.getMessage()));
  };
  for (bool isGrowing = true; isGrowing;) {
    isGrowing = false;
    for (TimelineOp timeline : timelines)
      for (auto receive : timeline.getBody().front().getOps<ReceiveOp>())
        if (llvm::any_of(receive->getUsers(), isNeeding))
          isGrowing |= needed.insert(receive.getMessage()).second;
  }
  return needed;
}

bool isOfTraining(Operation &op, const DenseSet<int64_t> &forward) {
  if (auto transfer = dyn_cast<TransferAction>(op))
    return !forward.contains(transfer.getMessage());
  if (auto collective = dyn_cast<CollectiveOp>(op)) {
    auto bucket = SymbolTable::lookupNearestSymbolFrom<BucketOp>(&op, collective.getBucketAttr());
    return collective.getKind() != dist::CollectiveKind::all_gather || bucket.getParams() == Extent::whole;
  }
  return isa<NormOp, UpdateOp>(op) || (isa<RunOp>(op) && !isForward(op));
}

/// The scalars of the loss alone; erases an action on others.
template <typename Op> void keepLoss(Op op) {
  Builder builder(op.getContext());
  SmallVector<Attribute> kept(op.getScalars().getValue());
  llvm::erase(kept, builder.getStringAttr(kSumSquares));
  kept.empty() ? op.erase() : op.setScalarsAttr(builder.getArrayAttr(kept));
}

void addTimeline(TimelineOp trained, const DenseSet<int64_t> &forward, int64_t firstMessage) {
  OpBuilder builder = OpBuilder::atBlockEnd(trained->getParentOfType<ModuleOp>().getBody());
  auto timeline = cast<TimelineOp>(builder.clone(*trained));
  timeline.setSymName(("evaluate_" + Twine(trained.getStage())).str());
  timeline.setPurpose(graph::Purpose::evaluate);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(timeline.getBody().front()))) {
    if (isOfTraining(op, forward))
      op.erase();
    else if (auto send = dyn_cast<SendOp>(op))
      send.setMessage(firstMessage + send.getMessage());
    else if (auto receive = dyn_cast<ReceiveOp>(op))
      receive.setMessage(firstMessage + receive.getMessage());
    else if (auto zero = dyn_cast<ZeroScalarsOp>(op))
      keepLoss(zero);
    else if (auto sum = dyn_cast<AllReduceScalarsOp>(op))
      keepLoss(sum);
    else if (auto scalars = dyn_cast<ScalarsOp>(op))
      scalars.setFunction(kLoss);
  }
}

} // namespace

void test::addEvaluation(ModuleOp module) {
  SmallVector<TimelineOp> timelines = timelinesOf(module);
  DenseSet<int64_t> forward = findForwardMessages(timelines);
  int64_t firstMessage = 0;
  module.walk([&](TransferAction transfer) {
    firstMessage = std::max<int64_t>(firstMessage, (int64_t)transfer.getMessage() + 1);
  });
  buildLoss(module);
  for (TimelineOp timeline : timelines)
    addTimeline(timeline, forward, firstMessage);
}
