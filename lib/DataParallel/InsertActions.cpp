// The naive timeline of a step: everything in the order of the unpartitioned program, gathers right before
// and releases right after their use, reductions right after the last contribution. Right by construction;
// Schedule makes it better.
//
//   stage 3:  all_gather b1, layer 1 F, release b1 | ... | all_gather b1, layer 1 B, release b1, reduce_scatter b1 |
//   ...
#include "xlc/DataParallel/DataParallel.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Stage/Stage.h"

namespace xlc {
#define GEN_PASS_DEF_INSERTACTIONSPASS
#include "xlc/DataParallel/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::sched;

namespace {

/// One call of @micro_batch, understood once and repeated for each micro-batch.
struct Run {
  func::CallOp call;
  SmallVector<Value> values;       ///< activations and inputs
  SmallVector<Attribute> params;   ///< names
  SmallVector<Attribute> stores;   ///< "@loss_sum", "@loss_count" or the name of a parameter or buffer
  SmallVector<BucketOp> gathers;   ///< sharded buckets it reads, each once
  SmallVector<BucketOp> completes; ///< buckets whose gradients are complete after it
  SmallVector<bool> isFirst;       ///< per store: nothing was stored there before in this micro-batch
};

struct InsertActionsPass : xlc::impl::InsertActionsPassBase<InsertActionsPass> {
  using InsertActionsPassBase::InsertActionsPassBase;

  void runOnOperation() override {
    module = getOperation();
    function = module.lookupSymbol<func::FuncOp>("micro_batch");
    if (!function)
      return;
    buckets = llvm::to_vector(module.getOps<BucketOp>());
    for (BucketOp bucket : buckets)
      for (Attribute member : bucket.getMembers())
        bucketOf[member] = bucket;
    understand();
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    mesh = dist::MeshAttr::get(&getContext(), 1, ranks, 1, shards);
    auto timeline = TimelineOp::create(builder, function.getLoc(), "train", mesh, 0, microBatches);
    actions = OpBuilder::atBlockEnd(&timeline.getBody().emplaceBlock());
    for (int64_t k = 0; k < microBatches; ++k)
      insertMicroBatch(k);
    insertUpdate();
    function.erase();
    if (auto update = module.lookupSymbol<func::FuncOp>("update"))
      update.erase();
  }

private:
  template <typename Op, typename... Args> Op act(Args &&...args) {
    return Op::create(actions, function.getLoc(), std::forward<Args>(args)...);
  }
  FlatSymbolRefAttr symbol(BucketOp bucket) { return FlatSymbolRefAttr::get(bucket.getSymNameAttr()); }
  static bool isBuffer(BucketOp bucket) { return (int64_t)bucket.getGroup() == kBufferGroup; }
  bool isSharded(Extent extent) const { return extent == Extent::shard; }

  void understand();
  void findStores(Run &run, const DenseMap<Value, Attribute> &named, llvm::DenseSet<Attribute> &seen);
  void insertMicroBatch(int64_t k);
  void insertGradientReductions(const Run &run, int64_t k);
  void insertUpdate();

  ModuleOp module;
  dist::MeshAttr mesh;
  func::FuncOp function;
  SmallVector<BucketOp> buckets;
  llvm::DenseMap<Attribute, BucketOp> bucketOf;
  std::vector<Run> runs;
  OpBuilder actions{(MLIRContext *)nullptr};
};

void InsertActionsPass::findStores(Run &run, const DenseMap<Value, Attribute> &named, llvm::DenseSet<Attribute> &seen) {
  int64_t stores = run.call->getAttrOfType<IntegerAttr>(graph::kStores).getInt();
  for (Value result : run.call.getResults().take_back(stores)) {
    Attribute name = named.lookup(result);
    run.stores.push_back(name);
    run.isFirst.push_back(seen.insert(name).second);
  }
}

/// What each call reads, writes and completes, from the names on @micro_batch's arguments and results.
void InsertActionsPass::understand() {
  DenseMap<Value, Attribute> named; // returned value -> where it is stored
  Builder builder(module.getContext());
  auto returned = function.front().getTerminator()->getOperands();
  named[returned[0]] = builder.getStringAttr(kLossSum);
  named[returned[1]] = builder.getStringAttr(kLossCount);
  for (unsigned i = 2; i < returned.size(); ++i) {
    Attribute buffer = function.getResultAttr(i, graph::kBuffer);
    named[returned[i]] = buffer ? buffer : function.getResultAttr(i, graph::kGrad);
  }

  llvm::DenseSet<Attribute> seen;
  llvm::DenseMap<Attribute, size_t> completed; // bucket -> run that stores into it last
  for (auto call : function.front().getOps<func::CallOp>()) {
    Run run;
    run.call = call;
    int64_t params = call->getAttrOfType<IntegerAttr>(graph::kParams).getInt();
    run.values.assign(call.getOperands().drop_back(params).begin(), call.getOperands().drop_back(params).end());
    for (Value param : call.getOperands().take_back(params)) {
      Attribute name = function.getArgAttr(cast<BlockArgument>(param).getArgNumber(), graph::kParam);
      run.params.push_back(name);
      BucketOp bucket = bucketOf.lookup(name);
      if (isSharded(bucket.getParams()) && !llvm::is_contained(run.gathers, bucket))
        run.gathers.push_back(bucket);
    }
    findStores(run, named, seen);
    for (Attribute name : run.stores)
      if (BucketOp bucket = bucketOf.lookup(name); bucket && !isBuffer(bucket))
        completed[bucket.getSymNameAttr()] = runs.size();
    runs.push_back(std::move(run));
  }
  for (BucketOp bucket : buckets)
    if (auto it = completed.find(bucket.getSymNameAttr()); it != completed.end())
      runs[it->second].completes.push_back(bucket);
}

/// Loads, runs, and what lies between: gathers, releases, reductions.
void InsertActionsPass::insertMicroBatch(int64_t k) {
  DenseMap<Value, Value> values; // of @micro_batch -> of the timeline
  SmallVector<Attribute> inputs;
  SmallVector<Type> types;
  SmallVector<Value> arguments;
  for (BlockArgument argument : function.getArguments())
    if (Attribute name = function.getArgAttr(argument.getArgNumber(), graph::kInput)) {
      inputs.push_back(name);
      types.push_back(argument.getType());
      arguments.push_back(argument);
    }
  auto load = act<LoadOp>(types, actions.getI64IntegerAttr(k), actions.getArrayAttr(inputs));
  for (auto [argument, value] : llvm::zip(arguments, load.getValues()))
    values[argument] = value;

  llvm::SmallVector<BucketOp> gathered;
  for (auto [i, run] : llvm::enumerate(runs)) {
    for (BucketOp bucket : run.gathers)
      if (!llvm::is_contained(gathered, bucket)) {
        act<AllGatherOp>(symbol(bucket));
        gathered.push_back(bucket);
      }
    SmallVector<bool> accumulate;
    for (auto [name, isFirst] : llvm::zip(run.stores, run.isFirst)) {
      BucketOp bucket = bucketOf.lookup(name);
      bool keepsWholeGradients = !bucket || !isSharded(bucket.getGrads());
      accumulate.push_back(!isFirst || (k > 0 && keepsWholeGradients && !(bucket && isBuffer(bucket))));
    }
    SmallVector<Value> operands = llvm::map_to_vector(run.values, [&](Value value) { return values.lookup(value); });
    auto outs = run.call.getResults().drop_back(run.stores.size());
    auto op = act<RunOp>(outs.getTypes(), run.call.getCalleeAttr(), graph::getUnit(run.call),
                         actions.getI64IntegerAttr(k), operands, actions.getArrayAttr(run.params),
                         actions.getArrayAttr(run.stores), actions.getDenseBoolArrayAttr(accumulate));
    for (auto [result, value] : llvm::zip(outs, op.getOuts()))
      values[result] = value;

    ArrayRef<BucketOp> next = i + 1 < runs.size() ? ArrayRef<BucketOp>(runs[i + 1].gathers) : ArrayRef<BucketOp>();
    llvm::erase_if(gathered, [&](BucketOp bucket) {
      auto isUsedLater = [&] {
        return llvm::any_of(ArrayRef(runs).drop_front(i + 1),
                            [&](const Run &later) { return llvm::is_contained(later.gathers, bucket); });
      };
      if (llvm::is_contained(next, bucket) || (keepAfterForward && isUsedLater()))
        return false;
      act<ReleaseOp>(symbol(bucket));
      return true;
    });
    insertGradientReductions(run, k);
  }
}

void InsertActionsPass::insertGradientReductions(const Run &run, int64_t k) {
  bool isLast = k + 1 == microBatches;
  for (BucketOp bucket : run.completes) {
    if (ranks == 1)
      continue;
    if (isSharded(bucket.getGrads()))
      act<ReduceScatterOp>(symbol(bucket), actions.getBoolAttr(k > 0));
    else if (isLast && isSharded(bucket.getStates()))
      act<ReduceScatterOp>(symbol(bucket), actions.getBoolAttr(false));
    else if (isLast)
      act<AllReduceOp>(bucket.getSymName(), Extent::whole, dist::GroupAttr::dataParallel(mesh));
    if (isLast && isSharded(bucket.getStates()) && ranks > shards)
      act<AllReduceOp>(bucket.getSymName(), Extent::shard, dist::GroupAttr::replicas(mesh));
  }
}

/// Norm, loss and count over all ranks, one update per bucket, and the new parameters where ranks keep them whole.
void InsertActionsPass::insertUpdate() {
  SmallVector<BucketOp> trained;
  for (BucketOp bucket : buckets)
    if ((int64_t)bucket.getGroup() >= 0)
      trained.push_back(bucket);
  for (auto [i, bucket] : llvm::enumerate(trained))
    act<NormOp>(symbol(bucket), actions.getI64IntegerAttr(1), actions.getBoolAttr(i > 0));
  if (ranks > 1) { // every replica counts the squares of its slice, so they add up over one shard group
    act<AllReduceScalarsOp>(actions.getStrArrayAttr({kLossSum, kLossCount}), dist::GroupAttr::dataParallel(mesh));
    act<AllReduceScalarsOp>(actions.getStrArrayAttr({kSumSquares}), dist::GroupAttr::shards(mesh));
  }
  act<ScalarsOp>(FlatSymbolRefAttr::get(module.getContext(), "scalars"));
  for (BucketOp bucket : trained) {
    act<UpdateOp>(symbol(bucket));
    if (!isSharded(bucket.getParams()) && isSharded(bucket.getStates()))
      act<AllGatherOp>(symbol(bucket));
  }
}

} // namespace
