// See UnchangedState.h.
#include "UnchangedState.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::sched;

/// Whether an action changes what outlives a step: parameters, states, running averages, or the gradients of which the next
/// ones are made.
static bool changesWhatStays(Operation &op, const llvm::DenseSet<Attribute> &members) {
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case<NormOp, UpdateOp>([](auto) { return true; })
      .Case([](CollectiveOp collective) { return collective.getKind() != dist::CollectiveKind::all_gather; })
      .Case([&](RunOp run) {
        return llvm::any_of(run.getStores(), [&](Attribute name) { return members.contains(name); });
      })
      .Default(false);
}

LogicalResult xlc::verifyUnchangedState(TimelineOp timeline) {
  llvm::DenseSet<Attribute> members;
  for (auto bucket : timeline->getParentOfType<ModuleOp>().getOps<BucketOp>())
    members.insert_range(bucket.getMembers());
  for (Operation &op : timeline.getBody().front())
    if (changesWhatStays(op, members))
      return op.emitOpError() << "changes persistent state in a timeline that does not train";
  return success();
}
