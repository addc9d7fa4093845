// The gate of DataParallel and Schedule. It checks the meaning of actions, independently of their insertion: a small
// state machine per bucket of each stage, both ends of each message, and the rendezvous of all ranks.
//
//   parameters   shard --all_gather--> whole --release--> shard        (read only while whole)
//   parameters   whole --update of slices--> stale --all_gather--> whole
//   gradient     none --store--> partial --reduce--> summed --update--> none
//                a shard keeps `summed` from earlier micro-batches while the whole is `partial` again
//                once summed over dp, and then only: over tensor-parallel partial sums, over stages that share it
//
// A timeline without training leaves only its sums, each over all ranks: it has no gradients, and changes neither
// parameters nor running averages.
#include "Messages.h"
#include "StoredOutputs.h"
#include "UnchangedState.h"
#include "llvm/ADT/TypeSwitch.h"

namespace xlc {
#define GEN_PASS_DEF_VERIFYTIMELINEPASS
#include "xlc/Schedule/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::sched;

namespace {

struct BucketState {
  BucketOp op;
  bool areParamsWhole = false, isUpdated = false;
  bool isStale = false; ///< this rank has updated its slice, the others' are those of before
  llvm::DenseMap<Attribute, int64_t> contributions; ///< of this rank, per member, not reduced yet
  int64_t reducedMicroBatches = 0;                  ///< in the sum this rank keeps
  bool isReplicaReduced = false, isCounted = false;
  bool isPartialReduced = false, isTiedReduced = false;

  bool isTied() { return op.getStages() && op.getStages()->size() > 1; }
  /// Ranks that hold the same elements: replicas over tp, tied copies on other stages.
  int64_t countCopies(dist::MeshAttr mesh) {
    int64_t parts = 1;
    if (ArrayAttr layouts = op.getLayoutsAttr())
      for (Attribute layout : layouts)
        if (auto piece = dyn_cast<dist::LayoutAttr>(layout))
          parts = piece.getGroup().size();
    return mesh.getTp() / parts * (isTied() ? op.getStages()->size() : 1);
  }
};

class Walk {
public:
  Walk(ModuleOp module, TimelineOp timeline) : timeline(timeline) {
    for (auto bucket : module.getOps<BucketOp>()) {
      if (!isOnStage(bucket, timeline.getStage()))
        continue;
      BucketState &state = buckets[bucket.getSymNameAttr()];
      state.op = bucket;
      state.areParamsWhole = bucket.getParams() == Extent::whole;
      for (Attribute member : bucket.getMembers())
        owner[member] = bucket.getSymNameAttr();
    }
  }

  LogicalResult run() {
    for (Operation &op : timeline.getBody().front()) {
      if (auto action = dyn_cast<BucketAction>(op); action && !buckets.contains(action.getBucketAttr().getAttr()))
        return op.emitOpError() << "names bucket '" << action.getBucketAttr().getValue() << "', which does not exist"
                                << (timeline.getMesh().getPp() > 1 ? " on this stage" : "");
      if (failed(checkMicroBatch(op)))
        return failure();
      LogicalResult result =
          llvm::TypeSwitch<Operation *, LogicalResult>(&op)
              .Case([&](StoreOp store) { return stored.add(store); })
              .Case<RunOp, CollectiveOp, ReleaseOp, NormOp, ZeroScalarsOp, AllReduceScalarsOp, ScalarsOp, UpdateOp>(
                  [&](auto action) { return check(action); })
              .Default([](Operation *) { return success(); });
      if (failed(result))
        return failure();
    }
    for (auto &[name, state] : buckets)
      if (trains() && isTrained(state) && !state.isUpdated)
        return timeline.emitOpError() << "never updates bucket '" << name.getValue() << "'";
      else if (state.isStale)
        return timeline.emitOpError() << "ends before the updated slices of bucket '" << name.getValue()
                                      << "' are gathered";
    return checkComplete();
  }

private:
  bool trains() { return timeline.getPurpose() == graph::Purpose::train; }
  bool isTrained(const BucketState &state) { return (int64_t)const_cast<BucketState &>(state).op.getGroup() >= 0; }
  dist::MeshAttr mesh() { return timeline.getMesh(); }
  bool needsReduction() { return mesh().getDp() > 1; }
  BucketState &stateOf(FlatSymbolRefAttr symbol) { return buckets.find(symbol.getAttr())->second; }

  /// What an action of a micro-batch reads is of that micro-batch.
  LogicalResult checkMicroBatch(Operation &op) {
    auto own = dyn_cast<MicroBatchAction>(op);
    for (Value operand : op.getOperands())
      if (auto other = dyn_cast<MicroBatchAction>(operand.getDefiningOp());
          own && other && own.getMicroBatch() != other.getMicroBatch())
        return op.emitOpError() << "of micro-batch " << own.getMicroBatch() << " reads a value of micro-batch "
                                << other.getMicroBatch();
    return success();
  }

  /// Every unit runs each of its functions once for every micro-batch, and what evaluating comes to is there, from all
  /// ranks that have a part of it.
  LogicalResult checkComplete() {
    for (StringAttr name : timeline.listSums()) {
      if (scalarStores.lookup(name) == 0)
        return timeline.emitOpError() << "never computes its sum " << name;
      if (mesh().getDp() * mesh().getPp() > 1 && !reducedScalars.contains(name))
        return timeline.emitOpError() << "ends before its sum " << name << " is reduced over all ranks";
    }
    if (failed(stored.verify(timeline)))
      return failure();
    for (auto &[unit, seen] : microBatches)
      for (int64_t k = 0; k < (int64_t)timeline.getMicroBatches(); ++k)
        if (!seen.contains(k))
          return timeline.emitOpError() << "never runs @" << cast<StringAttr>(unit.first).getValue() << " of unit "
                                        << unit.second << " for micro-batch " << k;
    return success();
  }

  LogicalResult check(RunOp run) {
    llvm::DenseSet<int64_t> &seen = microBatches[{run.getFunctionAttr().getAttr(), run.getUnitAttr()}];
    if (!seen.insert(run.getMicroBatch()).second)
      return run.emitOpError() << "runs a second time for micro-batch " << run.getMicroBatch();
    for (Attribute param : run.getParams()) {
      auto it = owner.find(param);
      if (it == owner.end())
        return run.emitOpError() << "reads parameter " << param << ", which does not belong to a bucket";
      if (!buckets.find(it->second)->second.areParamsWhole)
        return run.emitOpError() << "reads parameter " << param << " of bucket '" << it->second.getValue()
                                 << "', which is not gathered here";
    }
    for (auto [name, accumulates] : llvm::zip(run.getStores(), run.getAccumulate()))
      if (failed(store(run, name, accumulates)))
        return failure();
    return success();
  }

  LogicalResult store(RunOp run, Attribute name, bool accumulates) {
    if (auto it = owner.find(name);
        it != owner.end() && (int64_t)buckets.find(it->second)->second.op.getGroup() == kBufferGroup)
      return accumulates ? run.emitOpError() << "adds to running average " << name << ", which must be overwritten"
                         : success();
    int64_t &count = owner.contains(name) ? buckets.find(owner[name])->second.contributions[name] : scalarStores[name];
    if (accumulates != (count > 0))
      return run.emitOpError() << (accumulates ? "adds to " : "overwrites ") << name
                               << (accumulates ? ", which was not written" : ", which holds an earlier contribution");
    ++count;
    if (!owner.contains(name))
      return success();
    BucketState &state = buckets.find(owner[name])->second;
    if (state.isPartialReduced || state.isTiedReduced)
      return run.emitOpError() << "adds to the gradient of " << name << ", which is already summed over ranks";
    state.isCounted = false;
    return success();
  }

  LogicalResult check(CollectiveOp collective) {
    BucketState &state = stateOf(collective.getBucketAttr());
    if (collective.getKind() == dist::CollectiveKind::reduce_scatter)
      return checkScatter(collective, state);
    if (collective.getKind() == dist::CollectiveKind::all_reduce)
      return checkSum(collective, state);
    state.areParamsWhole = true;
    state.isStale = false;
    return success();
  }

  LogicalResult check(ReleaseOp release) {
    BucketState &state = stateOf(release.getBucketAttr());
    if (!state.areParamsWhole || state.op.getParams() == Extent::whole)
      return release.emitOpError("releases a bucket that is not gathered");
    state.areParamsWhole = false;
    return success();
  }

  /// A reduction takes a whole gradient: every member must have been contributed to since the last one.
  LogicalResult takeContributions(Operation *op, BucketState &state) {
    for (Attribute member : state.op.getMembers())
      if (!state.contributions.contains(member))
        return op->emitOpError() << "sums the gradient of " << member
                                 << (state.reducedMicroBatches ? " a second time" : " before it exists");
    state.contributions.clear();
    return success();
  }

  LogicalResult checkScatter(CollectiveOp reduce, BucketState &state) {
    if (failed(takeContributions(reduce, state)))
      return failure();
    bool keepsShard = state.op.getGrads() == Extent::shard;
    if (reduce.getAccumulate() != (keepsShard && state.reducedMicroBatches > 0))
      return reduce.emitOpError() << (reduce.getAccumulate() ? "adds to a sum that does not exist"
                                                             : "overwrites the sum of earlier micro-batches");
    state.reducedMicroBatches = keepsShard ? state.reducedMicroBatches + 1 : timeline.getMicroBatches();
    return success();
  }

  LogicalResult checkSum(CollectiveOp reduce, BucketState &state) {
    dist::GroupAttr group = reduce.getGroupAttr();
    if (state.op.getPartialAttr() == group)
      return sumOnce(reduce, state, state.isPartialReduced, state.isTiedReduced);
    if (state.isTied() && group.getStages() == state.op.getStagesAttr())
      return sumOnce(reduce, state, state.isTiedReduced, false);
    bool isWhole = reduce.getExtent() == Extent::whole;
    if (group != (isWhole ? dist::GroupAttr::dataParallel(mesh()) : dist::GroupAttr::replicas(mesh())))
      return reduce.emitOpError() << "sums bucket '" << state.op.getSymName() << "' over " << group
                                  << ", but the bucket is not a partial sum over this group";
    if (isWhole) {
      if (failed(takeContributions(reduce, state)))
        return failure();
      state.reducedMicroBatches = timeline.getMicroBatches();
      return success();
    }
    if (state.reducedMicroBatches != (int64_t)timeline.getMicroBatches() || state.isReplicaReduced)
      return reduce.emitOpError("sums over replicas a value that is not the complete sum of a shard group");
    state.isReplicaReduced = true;
    return success();
  }

  /// A sum that comes after that over dp, once per step; `isTooLate`: what must come after it has come.
  LogicalResult sumOnce(CollectiveOp reduce, BucketState &state, bool &isDone, bool isTooLate) {
    if (failed(expectSummedOverDp(reduce, state)))
      return failure();
    bool keepsShard = needsReduction() && state.op.getStates() == Extent::shard;
    if (isDone || isTooLate || (reduce.getExtent() == Extent::shard) != keepsShard)
      return reduce.emitOpError() << "sums bucket '" << state.op.getSymName() << "' "
                                  << (isDone      ? "a second time"
                                      : isTooLate ? "after the sum over stages"
                                                  : "with an extent (whole or shard) that this rank does not keep");
    isDone = true;
    return success();
  }

  /// The gradient that this rank keeps is the sum over all data-parallel ranks and micro-batches.
  LogicalResult expectSummedOverDp(Operation *op, BucketState &state) {
    if (!needsReduction()) {
      for (Attribute member : state.op.getMembers())
        if (!state.contributions.contains(member))
          return op->emitOpError() << "uses the gradient of " << member << " before it exists";
      return success();
    }
    bool isHybrid = mesh().getDp() > mesh().getShards() && state.op.getStates() == Extent::shard;
    if (state.reducedMicroBatches != (int64_t)timeline.getMicroBatches() || (isHybrid && !state.isReplicaReduced) ||
        !state.contributions.empty())
      return op->emitOpError() << "uses the gradients of bucket '" << state.op.getSymName()
                               << "' before they are summed over all ranks";
    return success();
  }

  LogicalResult expectSummed(Operation *op, BucketState &state) {
    if (failed(expectSummedOverDp(op, state)))
      return failure();
    if (state.op.getPartialAttr() && !state.isPartialReduced)
      return op->emitOpError() << "uses the gradients of bucket '" << state.op.getSymName()
                               << "' before their partial sums over " << state.op.getPartialAttr() << " are added";
    if (state.isTied() && !state.isTiedReduced)
      return op->emitOpError() << "uses the gradients of bucket '" << state.op.getSymName()
                               << "' before they are summed over the stages that share the bucket";
    return success();
  }

  LogicalResult check(NormOp norm) {
    BucketState &state = stateOf(norm.getBucketAttr());
    if (failed(expectSummed(norm, state)))
      return failure();
    if (state.isCounted)
      return norm.emitOpError("counts a bucket twice");
    if ((int64_t)norm.getCopies() != state.countCopies(mesh()))
      return norm.emitOpError() << "counts bucket '" << state.op.getSymName() << "' as held by " << norm.getCopies()
                                << " ranks, but it is held by " << state.countCopies(mesh());
    if (norm.getAccumulate() != hasNorm)
      return norm.emitOpError() << (hasNorm ? "overwrites the sum of squares of other buckets"
                                            : "adds to a sum of squares that does not exist");
    state.isCounted = hasNorm = true;
    return success();
  }

  LogicalResult check(ZeroScalarsOp zero) {
    for (Attribute name : zero.getScalars())
      if (scalarStores[name]++ > 0 || (isSquares(name) && hasNorm))
        return zero.emitOpError() << "overwrites " << name << ", which holds a contribution";
    return success();
  }

  LogicalResult check(AllReduceScalarsOp reduce) {
    for (Attribute name : reduce.getScalars()) {
      bool isThere = scalarStores.lookup(name) > 0 || (isSquares(name) && hasNorm);
      if (mesh().getPp() > 1 && !isThere)
        return reduce.emitOpError() << "sums " << name << " before it exists";
      int64_t holders = isSquares(name) ? mesh().getShards() * mesh().getTp() : mesh().getDp();
      if (reduce.getGroup().size() != holders * mesh().getPp())
        return reduce.emitOpError() << "sums " << name << " over " << reduce.getGroup().size() << " ranks, but "
                                    << holders * mesh().getPp() << " hold parts of it";
      if (!reducedScalars.insert(name).second)
        return reduce.emitOpError() << "sums " << name << " twice";
    }
    return success();
  }

  static bool isSquares(Attribute name) { return cast<StringAttr>(name).getValue() == kSumSquares; }

  LogicalResult check(ScalarsOp scalars) {
    Builder builder(scalars.getContext());
    for (StringRef name : {kLossSum, kLossCount, kSumSquares}) {
      bool isShared = mesh().getDp() * mesh().getPp() * (name == kSumSquares ? mesh().getTp() : 1) > 1;
      if (isShared && !reducedScalars.contains(builder.getStringAttr(name)))
        return scalars.emitOpError() << "uses " << name << " before it is summed over all ranks";
    }
    for (auto &[name, state] : buckets)
      if (isTrained(state) && !state.isCounted)
        return scalars.emitOpError() << "uses a norm that does not include bucket '" << name.getValue() << "'";
    hasScalars = true;
    return success();
  }

  LogicalResult check(UpdateOp update) {
    BucketState &state = stateOf(update.getBucketAttr());
    if (failed(expectSummed(update, state)))
      return failure();
    if (!hasScalars)
      return update.emitOpError("runs before the factor on the gradients is computed");
    if (state.isUpdated)
      return update.emitOpError("updates a bucket twice");
    state.isUpdated = true;
    state.isStale = state.op.getStates() == Extent::shard && state.op.getParams() == Extent::whole;
    return success();
  }

  TimelineOp timeline;
  llvm::MapVector<StringAttr, BucketState> buckets;
  llvm::DenseMap<Attribute, StringAttr> owner;
  llvm::DenseMap<Attribute, int64_t> scalarStores;
  llvm::MapVector<std::pair<Attribute, Attribute>, llvm::DenseSet<int64_t>> microBatches; ///< by function and unit
  StoredOutputs stored;
  llvm::DenseSet<Attribute> reducedScalars;
  bool hasNorm = false, hasScalars = false;
};

/// One timeline per stage of the mesh, and no group or message that leads out of it.
LogicalResult verifyStages(ArrayRef<TimelineOp> timelines) {
  dist::MeshAttr mesh = TimelineOp(timelines.front()).getMesh();
  for (int64_t stage = 0; stage < (int64_t)timelines.size(); ++stage) {
    TimelineOp timeline = timelines[stage];
    if ((int64_t)timeline.getStage() != stage || (int64_t)timelines.size() != mesh.getPp())
      return timeline.emitOpError() << "is for stage " << timeline.getStage() << " of " << timeline.getMesh()
                                    << "; a step has one timeline per stage, in order";
    for (Operation &op : timeline.getBody().front()) {
      bool isOutside = false;
      if (auto transfer = dyn_cast<TransferAction>(op))
        isOutside = (int64_t)transfer.getPeer() == stage || (int64_t)transfer.getPeer() >= mesh.getPp();
      if (auto collective = dyn_cast<CollectiveAction>(op)) {
        ArrayRef<int64_t> stages = collective.getGroupOn(mesh).getStages();
        isOutside = (!stages.empty() && !llvm::is_contained(stages, stage)) ||
                    llvm::any_of(stages, [&](int64_t member) { return member >= mesh.getPp(); });
      }
      if (isOutside)
        return op.emitOpError() << "of stage " << stage << " has a peer or group that is not valid for " << mesh;
    }
  }
  return success();
}

struct VerifyTimelinePass : xlc::impl::VerifyTimelinePassBase<VerifyTimelinePass> {
  void runOnOperation() override {
    for (graph::Purpose purpose : {graph::Purpose::train, graph::Purpose::evaluate})
      if (SmallVector<TimelineOp> timelines = timelinesOf(getOperation(), purpose);
          !timelines.empty() && failed(verify(timelines)))
        return signalPassFailure();
    // Those of all purposes: they run in turns, and messages are told apart by their numbers.
    if (failed(verifyMessages(llvm::to_vector(getOperation().getOps<TimelineOp>()))))
      signalPassFailure();
  }

private:
  /// Those of one purpose, which ranks run beside each other.
  LogicalResult verify(ArrayRef<TimelineOp> timelines) {
    if (failed(verifyStages(timelines)))
      return failure();
    for (TimelineOp timeline : timelines) {
      if (timeline.getPurpose() != graph::Purpose::train && failed(verifyUnchangedState(timeline)))
        return failure();
      if (failed(Walk(getOperation(), timeline).run()))
        return failure();
    }
    if (failed(verifyMessages(timelines)))
      return failure();
    if (std::optional<std::string> deadlock = findDeadlock(findRendezvous(timelines)))
      return TimelineOp(timelines.front()).emitOpError() << *deadlock;
    return success();
  }
};

} // namespace
