// The gate of DataParallel and Schedule. It knows the meaning of actions, not how they were inserted: a small
// state machine per bucket, and the rendezvous of all ranks.
//
//   parameters   shard --all_gather--> whole --release--> shard        (read only while whole)
//   parameters   whole --update of slices--> stale --all_gather--> whole
//   gradient     none --store--> partial --reduce--> summed --update--> none
//                a shard keeps `summed` from earlier micro-batches while the whole is `partial` again
#include "xlc/Schedule/Rendezvous.h"
#include "xlc/Schedule/Schedule.h"
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
};

class Walk {
public:
  Walk(ModuleOp module, TimelineOp timeline) : timeline(timeline) {
    for (auto bucket : module.getOps<BucketOp>()) {
      BucketState &state = buckets[bucket.getSymNameAttr()];
      state.op = bucket;
      state.areParamsWhole = bucket.getParams() == Extent::whole;
      for (Attribute member : bucket.getMembers())
        owner[member] = bucket.getSymNameAttr();
    }
  }

  LogicalResult run() {
    for (Operation &op : timeline.getBody().front()) {
      if (auto bucket = op.getAttrOfType<FlatSymbolRefAttr>("bucket"); bucket && !buckets.contains(bucket.getAttr()))
        return op.emitOpError() << "names bucket '" << bucket.getValue() << "', which does not exist";
      LogicalResult result =
          llvm::TypeSwitch<Operation *, LogicalResult>(&op)
              .Case<RunOp, AllGatherOp, ReleaseOp, ReduceScatterOp, AllReduceOp, NormOp, AllReduceScalarsOp, ScalarsOp,
                    UpdateOp>([&](auto action) { return check(action); })
              .Default([](Operation *) { return success(); });
      if (failed(result))
        return failure();
    }
    for (auto &[name, state] : buckets)
      if (isTrained(state) && !state.isUpdated)
        return timeline.emitOpError() << "never updates bucket '" << name.getValue() << "'";
      else if (state.isStale)
        return timeline.emitOpError() << "ends before the updated slices of bucket '" << name.getValue()
                                      << "' are gathered";
    return success();
  }

private:
  bool isTrained(const BucketState &state) { return (int64_t)const_cast<BucketState &>(state).op.getGroup() >= 0; }
  bool needsReduction() { return timeline.getMesh().getDp() > 1; }
  BucketState &stateOf(FlatSymbolRefAttr symbol) { return buckets.find(symbol.getAttr())->second; }

  LogicalResult check(RunOp run) {
    for (Attribute param : run.getParams()) {
      auto it = owner.find(param);
      if (it == owner.end())
        return run.emitOpError() << "reads parameter " << param << ", which lies in no bucket";
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
      return accumulates ? run.emitOpError() << "adds to buffer " << name << ", which is replaced" : success();
    int64_t &count = owner.contains(name) ? buckets.find(owner[name])->second.contributions[name] : scalarStores[name];
    if (accumulates != (count > 0))
      return run.emitOpError() << (accumulates ? "adds to " : "overwrites ") << name
                               << (accumulates ? ", to which nothing was written"
                                               : ", which holds an earlier contribution");
    ++count;
    if (owner.contains(name))
      buckets.find(owner[name])->second.isCounted = false;
    return success();
  }

  LogicalResult check(AllGatherOp gather) {
    BucketState &state = stateOf(gather.getBucketAttr());
    state.areParamsWhole = true;
    state.isStale = false;
    return success();
  }

  LogicalResult check(ReleaseOp release) {
    BucketState &state = stateOf(release.getBucketAttr());
    if (!state.areParamsWhole || state.op.getParams() == Extent::whole)
      return release.emitOpError("releases what is not gathered");
    state.areParamsWhole = false;
    return success();
  }

  /// A reduction takes a whole gradient: every member must have been contributed to since the last one.
  LogicalResult takeContributions(Operation *op, BucketState &state) {
    for (Attribute member : state.op.getMembers())
      if (!state.contributions.contains(member))
        return op->emitOpError() << "sums the gradient of " << member
                                 << (state.reducedMicroBatches ? " a second time" : " before it is there");
    state.contributions.clear();
    return success();
  }

  LogicalResult check(ReduceScatterOp reduce) {
    BucketState &state = stateOf(reduce.getBucketAttr());
    if (failed(takeContributions(reduce, state)))
      return failure();
    bool keepsShard = state.op.getGrads() == Extent::shard;
    if (reduce.getAccumulate() != (keepsShard && state.reducedMicroBatches > 0))
      return reduce.emitOpError() << (reduce.getAccumulate() ? "adds to a sum that is not there"
                                                             : "overwrites the sum of earlier micro-batches");
    state.reducedMicroBatches = keepsShard ? state.reducedMicroBatches + 1 : timeline.getMicroBatches();
    return success();
  }

  LogicalResult check(AllReduceOp reduce) {
    BucketState &state = stateOf(reduce.getBucketAttr());
    if (reduce.getExtent() == Extent::whole) {
      if (failed(takeContributions(reduce, state)))
        return failure();
      state.reducedMicroBatches = timeline.getMicroBatches();
      return success();
    }
    if (state.reducedMicroBatches != (int64_t)timeline.getMicroBatches() || state.isReplicaReduced)
      return reduce.emitOpError("sums over replicas what is not the sum of one shard group");
    state.isReplicaReduced = true;
    return success();
  }

  /// The gradient that this rank keeps is the sum over all ranks and micro-batches.
  LogicalResult expectSummed(Operation *op, BucketState &state) {
    if (!needsReduction()) {
      for (Attribute member : state.op.getMembers())
        if (!state.contributions.contains(member))
          return op->emitOpError() << "uses the gradient of " << member << " before it is there";
      return success();
    }
    bool isHybrid =
        timeline.getMesh().getDp() > timeline.getMesh().getShards() && state.op.getStates() == Extent::shard;
    if (state.reducedMicroBatches != (int64_t)timeline.getMicroBatches() || (isHybrid && !state.isReplicaReduced) ||
        !state.contributions.empty())
      return op->emitOpError() << "uses the gradients of bucket '" << state.op.getSymName()
                               << "' before they are summed over all ranks";
    return success();
  }

  LogicalResult check(NormOp norm) {
    BucketState &state = stateOf(norm.getBucketAttr());
    if (failed(expectSummed(norm, state)))
      return failure();
    if (state.isCounted)
      return norm.emitOpError("counts a bucket twice");
    if (norm.getAccumulate() != hasNorm)
      return norm.emitOpError() << (hasNorm ? "overwrites the squares of other buckets"
                                            : "adds to squares that are not there");
    state.isCounted = hasNorm = true;
    return success();
  }

  LogicalResult check(AllReduceScalarsOp reduce) {
    for (Attribute name : reduce.getScalars())
      if (!reducedScalars.insert(name).second)
        return reduce.emitOpError() << "sums " << name << " twice";
    return success();
  }

  LogicalResult check(ScalarsOp scalars) {
    Builder builder(scalars.getContext());
    for (StringRef name : {kLossSum, kLossCount, kSumSquares})
      if (needsReduction() && !reducedScalars.contains(builder.getStringAttr(name)))
        return scalars.emitOpError() << "uses " << name << " before it is summed over all ranks";
    for (auto &[name, state] : buckets)
      if (isTrained(state) && !state.isCounted)
        return scalars.emitOpError() << "uses a norm without bucket '" << name.getValue() << "'";
    hasScalars = true;
    return success();
  }

  LogicalResult check(UpdateOp update) {
    BucketState &state = stateOf(update.getBucketAttr());
    if (failed(expectSummed(update, state)))
      return failure();
    if (!hasScalars)
      return update.emitOpError("needs the factor on the gradients, which is not there yet");
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
  llvm::DenseSet<Attribute> reducedScalars;
  bool hasNorm = false, hasScalars = false;
};

/// What each rank of a timeline meets the others for. All ranks run the same actions, and those of an axis are
/// interchangeable, so two of each axis stand for any number: a thousand ranks cost what four do.
std::vector<std::vector<Meeting>> meetings(TimelineOp timeline) {
  dist::MeshAttr mesh = timeline.getMesh();
  int shards = std::min<int>(mesh.getShards(), 2);
  int replicas = std::min<int>(mesh.getDp() / mesh.getShards(), 2);
  int ranks = shards * replicas;
  std::vector<std::vector<Meeting>> all(ranks);
  auto group = [&](Operation &op, int rank) {
    auto named = op.getAttrOfType<dist::GroupAttr>("group");
    std::vector<int> members;
    for (int other = 0; other < ranks; ++other) {
      bool meets = named == dist::GroupAttr::dataParallel(mesh) ? true
                   : named == dist::GroupAttr::replicas(mesh)   ? other % shards == rank % shards
                                                                : other / shards == rank / shards;
      if (meets)
        members.push_back(other);
    }
    return members;
  };
  for (Operation &op : timeline.getBody().front())
    if (isa<AllGatherOp, ReduceScatterOp, AllReduceOp, AllReduceScalarsOp>(op))
      for (int rank = 0; rank < ranks; ++rank) {
        auto bucket = op.getAttrOfType<FlatSymbolRefAttr>("bucket");
        std::string name = (op.getName().stripDialect() + (bucket ? " " + bucket.getValue() : Twine())).str();
        all[rank].push_back({name, group(op, rank)});
      }
  return all;
}

struct VerifyTimelinePass : xlc::impl::VerifyTimelinePassBase<VerifyTimelinePass> {
  void runOnOperation() override {
    for (auto timeline : getOperation().getOps<TimelineOp>()) {
      if (failed(Walk(getOperation(), timeline).run()))
        return signalPassFailure();
      if (std::optional<std::string> deadlock = findDeadlock(meetings(timeline))) {
        timeline.emitOpError() << *deadlock;
        return signalPassFailure();
      }
    }
  }
};

} // namespace
