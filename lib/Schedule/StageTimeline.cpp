// The naive timeline of a stage: slots in the order of the schedule, messages in their one global order, gathers
// directly before and releases directly after their use, reductions directly after the last contribution. It is correct
// by construction; Schedule optimizes it.
//
//   stage 3:  all_gather b1, layer 1 F, release b1 | ...
//             all_gather b1, layer 1 B, release b1, reduce_scatter b1 | ...
//
// A message is placed in its turn: after the slots that begin before it is ready. So all stages run projections of one
// order of slots and messages, and no two ever wait for each other.
#include "StageTimeline.h"
#include "xlc/Dialect/Graph/Entry.h"
#include <map>

using namespace mlir;
using namespace xlc;
using namespace xlc::sched;
using Kind = dist::CollectiveKind;

namespace {

/// A run of one micro-batch, or a message.
struct Item {
  const UnitRun *run = nullptr;
  const Transfer *transfer = nullptr;
  int64_t microBatch = 0;
};

/// A bucket whose gradients are complete: for a micro-batch, or for the step.
struct Completion {
  BucketOp bucket;
  bool isLast;
};

graph::Role roleOf(SlotKind kind) {
  return kind == SlotKind::F   ? graph::Role::F
         : kind == SlotKind::B ? graph::Role::B
         : kind == SlotKind::I ? graph::Role::I
                               : graph::Role::W;
}

class TimelineBuilder {
public:
  TimelineBuilder(const Step &step, TimelineOp timeline)
      : step(step), timeline(timeline), stage(timeline.getStage()), loc(timeline.getLoc()),
        actions(OpBuilder::atBlockEnd(&timeline.getBody().front())), values(step.microBatches) {
    for (BucketOp bucket : step.buckets)
      if (isOnStage(bucket, stage))
        buckets.push_back(bucket);
    for (const UnitRun &run : step.runs)
      if (run.stage == stage)
        used.insert_range(run.values);
    for (OpOperand *output : step.entry.getOutputs())
      outputs[output->get()].push_back(step.entry.getOutputName(*output));
  }

  void build() {
    listItems();
    findCompletions();
    for (auto [i, item] : llvm::enumerate(items))
      item.run ? insertRun(i) : insertTransfer(item);
    if (!step.entry.isTraining())
      return insertSums(timeline.listSums());
    insertTiedReductions();
    insertUpdate();
  }

private:
  template <typename Op, typename... Args> Op act(Args &&...args) {
    return Op::create(actions, loc, std::forward<Args>(args)...);
  }
  void gather(BucketOp bucket) {
    act<CollectiveOp>(Kind::all_gather, bucket.getSymName(), ExtentAttr(), dist::GroupAttr());
  }
  void sum(BucketOp bucket, Extent extent, dist::GroupAttr group) {
    act<CollectiveOp>(Kind::all_reduce, bucket.getSymName(), ExtentAttr::get(actions.getContext(), extent), group);
  }
  static FlatSymbolRefAttr symbol(BucketOp bucket) { return FlatSymbolRefAttr::get(bucket.getSymNameAttr()); }
  static bool isBuffer(BucketOp bucket) { return (int64_t)bucket.getGroup() == kBufferGroup; }
  static bool isTrained(BucketOp bucket) { return (int64_t)bucket.getGroup() >= 0; }
  static bool isSharded(Extent extent) { return extent == Extent::shard; }
  bool isPipeline() const { return step.mesh.getPp() > 1; }
  /// Where a reduced gradient stands: in this rank's slice after a reduce_scatter.
  Extent reducedExtent(BucketOp bucket) const {
    return step.mesh.getDp() > 1 && isSharded(bucket.getStates()) ? Extent::shard : Extent::whole;
  }

  void listItems();
  void findCompletions();
  void insertTransfer(const Item &item);
  void insertLoad(const Item &item);
  void insertRun(size_t index);
  void insertStore(const UnitRun &run, RunOp made);
  SmallVector<BucketOp> gathersOf(const UnitRun &run) const;
  void insertReductions(const Completion &completion);
  void insertTiedReductions();
  void insertUpdate();
  void insertScalars(ArrayRef<BucketOp> trained);
  dist::GroupAttr holdersOfLoss() const;
  void insertSums(ArrayRef<StringAttr> sums);

  const Step &step;
  TimelineOp timeline;
  int64_t stage;
  Location loc;
  OpBuilder actions;
  SmallVector<BucketOp> buckets;
  DenseSet<Value> used;                                ///< by the runs of this stage
  DenseMap<Value, SmallVector<StringAttr, 1>> outputs; ///< names of those outputs of the model that a value is
  std::vector<Item> items;
  std::map<size_t, SmallVector<Completion>> completes; ///< by item
  std::vector<DenseMap<Value, Value>> values;          ///< by micro-batch: of the entry -> of the timeline
  llvm::DenseMap<Attribute, size_t> lastRead;          ///< sharded bucket -> the item that reads it last
  SmallVector<BucketOp> gathered;
  llvm::DenseSet<Attribute> written; ///< names that hold a contribution which later ones add to
  llvm::DenseSet<Attribute> reduced; ///< buckets whose shard holds a sum of earlier micro-batches
  DenseMap<int64_t, size_t> started; ///< micro-batch -> its first run here
};

/// The slots of this stage in order, each message before the first slot that begins when it is ready or later.
void TimelineBuilder::listItems() {
  std::vector<const Transfer *> messages;
  for (const Transfer &transfer : step.transfers)
    if (step.rankOf(transfer.hop.from) == stage || step.rankOf(transfer.hop.to) == stage)
      messages.push_back(&transfer);
  size_t next = 0;
  auto addMessagesUntil = [&](int64_t time) {
    for (; next < messages.size() && messages[next]->time <= time; ++next)
      items.push_back({nullptr, messages[next], messages[next]->microBatch});
  };
  for (auto [slot, begin] : llvm::zip(step.order[stage], step.times.begin[stage])) {
    addMessagesUntil(begin);
    for (const UnitRun &run : step.runs)
      if (run.chunk == slot.chunk && run.kind == slot.kind) {
        started.try_emplace(slot.microBatch, items.size());
        items.push_back({&run, nullptr, slot.microBatch});
      }
  }
  addMessagesUntil(step.times.makespan);
  for (auto [i, item] : llvm::enumerate(items))
    if (item.run)
      for (BucketOp bucket : gathersOf(*item.run))
        lastRead[bucket.getSymNameAttr()] = i;
}

/// A gradient of which only the shard is kept is complete once per micro-batch, others once per step.
void TimelineBuilder::findCompletions() {
  std::map<std::pair<size_t, int64_t>, size_t> last; // (bucket, micro-batch or 0) -> item
  DenseMap<Attribute, size_t> indexOf;
  for (auto [i, bucket] : llvm::enumerate(buckets))
    indexOf[bucket.getSymNameAttr()] = i;
  for (auto [i, item] : llvm::enumerate(items))
    if (item.run)
      for (Attribute name : item.run->stores)
        if (BucketOp bucket = step.bucketOf.lookup(name); bucket && !isBuffer(bucket)) {
          int64_t microBatch = isSharded(bucket.getGrads()) ? item.microBatch : 0;
          last[{indexOf.lookup(bucket.getSymNameAttr()), microBatch}] = i;
        }
  std::map<size_t, size_t> lastOfStep; // bucket -> item
  for (auto &[key, item] : last)
    lastOfStep[key.first] = std::max(lastOfStep[key.first], item);
  for (auto &[key, item] : last)
    completes[item].push_back({buckets[key.first], item == lastOfStep[key.first]});
}

void TimelineBuilder::insertTransfer(const Item &item) {
  const Hop &hop = item.transfer->hop;
  Value &value = values[item.microBatch][hop.value];
  auto number = [&](int64_t value) { return actions.getI64IntegerAttr(value); };
  if (step.rankOf(hop.from) == stage)
    act<SendOp>(value, number(step.firstMessage + item.transfer->number), number(step.rankOf(hop.to)),
                number(item.microBatch));
  else
    value = act<ReceiveOp>(hop.value.getType(), number(step.firstMessage + item.transfer->number),
                           number(step.rankOf(hop.from)), number(item.microBatch));
}

/// The inputs that the runs of this stage read; all of them where there is one stage.
void TimelineBuilder::insertLoad(const Item &item) {
  SmallVector<Attribute> inputs;
  SmallVector<Type> types;
  SmallVector<Value> arguments;
  func::FuncOp function = step.entry.getFunction();
  for (BlockArgument argument : function.getArguments())
    if (Attribute name = graph::Argument(argument).getInput(); name && (!isPipeline() || used.contains(argument))) {
      inputs.push_back(name);
      types.push_back(argument.getType());
      arguments.push_back(argument);
    }
  if (inputs.empty())
    return;
  auto load = act<LoadOp>(types, actions.getI64IntegerAttr(item.microBatch), actions.getArrayAttr(inputs));
  for (auto [argument, value] : llvm::zip(arguments, load.getValues()))
    values[item.microBatch][argument] = value;
}

SmallVector<BucketOp> TimelineBuilder::gathersOf(const UnitRun &run) const {
  SmallVector<BucketOp> gathers;
  for (Attribute param : run.params)
    if (BucketOp bucket = step.bucketOf.lookup(param);
        isSharded(bucket.getParams()) && !llvm::is_contained(gathers, bucket))
      gathers.push_back(bucket);
  return gathers;
}

void TimelineBuilder::insertRun(size_t index) {
  const Item &item = items[index];
  const UnitRun &run = *item.run;
  if (started.lookup(item.microBatch) == index)
    insertLoad(item);
  for (BucketOp bucket : gathersOf(run))
    if (!llvm::is_contained(gathered, bucket)) {
      gather(bucket);
      gathered.push_back(bucket);
    }
  SmallVector<bool> accumulate;
  for (Attribute name : run.stores) {
    BucketOp bucket = step.bucketOf.lookup(name);
    accumulate.push_back(!written.insert(name).second && !(bucket && isBuffer(bucket)));
  }
  SmallVector<Value> operands =
      llvm::map_to_vector(run.values, [&](Value value) { return values[item.microBatch].lookup(value); });
  func::CallOp call = run.call;
  auto role = graph::RoleAttr::get(call.getContext(), roleOf(run.kind));
  auto op = act<RunOp>(run.outs().getTypes(), call.getCalleeAttr(), graph::getUnit(call),
                       actions.getI64IntegerAttr(item.microBatch), operands, actions.getArrayAttr(run.params),
                       actions.getArrayAttr(run.stores), actions.getDenseBoolArrayAttr(accumulate), role,
                       actions.getDenseI64ArrayAttr(run.sites));
  for (auto [result, value] : llvm::zip(run.outs(), op.getOuts()))
    values[item.microBatch][result] = value;
  insertStore(run, op);

  const Item *after = index + 1 < items.size() ? &items[index + 1] : nullptr;
  SmallVector<BucketOp> next;
  if (after && after->run && after->microBatch == item.microBatch)
    next = gathersOf(*after->run);
  llvm::erase_if(gathered, [&](BucketOp bucket) {
    bool isKept = step.keepsGathered && lastRead.lookup(bucket.getSymNameAttr()) > index;
    if (isKept || llvm::is_contained(next, bucket))
      return false;
    act<ReleaseOp>(symbol(bucket));
    return true;
  });
  if (auto it = completes.find(index); it != completes.end())
    for (const Completion &completion : it->second)
      insertReductions(completion);
}

/// What a run makes of the model's outputs, as soon as it is made.
void TimelineBuilder::insertStore(const UnitRun &run, RunOp made) {
  SmallVector<Value> stored;
  SmallVector<Attribute> names;
  for (auto [result, value] : llvm::zip(run.outs(), made.getOuts()))
    for (StringAttr name : outputs.lookup(result)) {
      stored.push_back(value);
      names.push_back(name);
    }
  if (!names.empty())
    act<StoreOp>(actions.getI64IntegerAttr(int64_t(made.getMicroBatch())), stored, actions.getArrayAttr(names));
}

/// Over the data-parallel ranks of this stage.
void TimelineBuilder::insertReductions(const Completion &completion) {
  auto [bucket, isLast] = completion;
  dist::MeshAttr mesh = step.mesh;
  if (mesh.getDp() == 1)
    return;
  if (!isSharded(bucket.getStates()))
    return sum(bucket, Extent::whole, dist::GroupAttr::dataParallel(mesh));
  bool adds = !reduced.insert(bucket.getSymNameAttr()).second;
  act<CollectiveOp>(Kind::reduce_scatter, bucket.getSymName(), ExtentAttr(), dist::GroupAttr(), adds);
  if (isSharded(bucket.getGrads()))
    for (Attribute member : bucket.getMembers())
      written.erase(member);
  if (isLast && mesh.getDp() > mesh.getShards())
    sum(bucket, Extent::shard, dist::GroupAttr::replicas(mesh));
}

/// What remains when all micro-batches are summed over dp: tensor-parallel partial sums, and tied copies on other
/// stages.
void TimelineBuilder::insertTiedReductions() {
  for (BucketOp bucket : buckets) {
    if (!isTrained(bucket))
      continue;
    if (auto partial = bucket.getPartialAttr())
      sum(bucket, reducedExtent(bucket), partial);
    if (std::optional<ArrayRef<int64_t>> stages = bucket.getStages(); stages && stages->size() > 1)
      sum(bucket, reducedExtent(bucket),
          dist::GroupAttr::tensorParallel(actions.getContext(), 1).across(dist::Axis::pp, *stages));
  }
}

/// Loss, count and norm over all ranks that hold a part of them. Every replica counts the squares of its slice, so they
/// add up over one shard group.
void TimelineBuilder::insertScalars(ArrayRef<BucketOp> trained) {
  auto has = [&](StringRef name) { return written.contains(actions.getStringAttr(name)); };
  SmallVector<StringRef> missing;
  for (StringRef name : {kLossSum, kLossCount})
    if (isPipeline() && !has(name))
      missing.push_back(name);
  if (isPipeline() && trained.empty())
    missing.push_back(kSumSquares);
  if (!missing.empty())
    act<ZeroScalarsOp>(actions.getStrArrayAttr(missing));
  dist::MeshAttr mesh = step.mesh;
  dist::GroupAttr squares = dist::GroupAttr::shards(mesh);
  if (mesh.getTp() > 1)
    squares = squares.with(dist::Axis::world, dist::GroupAttr::tensorParallel(mesh.getContext(), mesh.getTp()));
  if (isPipeline()) {
    SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, mesh.getPp()));
    squares = squares.across(dist::Axis::world, all);
  }
  if (mesh.getDp() > 1 || isPipeline())
    act<AllReduceScalarsOp>(actions.getStrArrayAttr({kLossSum, kLossCount}), holdersOfLoss());
  if (mesh.getRanks() > 1)
    act<AllReduceScalarsOp>(actions.getStrArrayAttr({kSumSquares}), squares);
}

/// The ranks that hold a part of the loss, or of another sum over the rows, on one tp index.
dist::GroupAttr TimelineBuilder::holdersOfLoss() const {
  dist::GroupAttr replicas = dist::GroupAttr::dataParallel(step.mesh);
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, step.mesh.getPp()));
  return isPipeline() ? replicas.across(dist::Axis::world, all) : replicas;
}

/// What an evaluation comes to, over all ranks that hold a part of it.
void TimelineBuilder::insertSums(ArrayRef<StringAttr> sums) {
  SmallVector<Attribute> missing, all(sums.begin(), sums.end());
  llvm::copy_if(all, std::back_inserter(missing), [&](Attribute name) { return !written.contains(name); });
  if (!missing.empty())
    act<ZeroScalarsOp>(actions.getArrayAttr(missing));
  if (step.mesh.getDp() > 1 || isPipeline())
    act<AllReduceScalarsOp>(actions.getArrayAttr(all), holdersOfLoss());
}

/// How many ranks count the same elements: replicas over tp, times tied copies.
int64_t countCopies(const Step &step, BucketOp bucket) {
  int64_t parts = 1;
  if (dist::LayoutAttr layout = getLayout(bucket, 0))
    parts = layout.getGroup().size();
  std::optional<ArrayRef<int64_t>> stages = bucket.getStages();
  return step.mesh.getTp() / parts * std::max<int64_t>(1, stages ? stages->size() : 1);
}

/// Norm, one update per bucket, and the new parameters where ranks keep them whole.
void TimelineBuilder::insertUpdate() {
  SmallVector<BucketOp> trained = llvm::to_vector(llvm::make_filter_range(buckets, isTrained));
  for (auto [i, bucket] : llvm::enumerate(trained))
    act<NormOp>(symbol(bucket), actions.getI64IntegerAttr(countCopies(step, bucket)), actions.getBoolAttr(i > 0));
  insertScalars(trained);
  act<ScalarsOp>(FlatSymbolRefAttr::get(actions.getContext(), graph::kScalars));
  for (BucketOp bucket : trained) {
    act<UpdateOp>(symbol(bucket));
    if (!isSharded(bucket.getParams()) && isSharded(bucket.getStates()))
      gather(bucket);
  }
}

} // namespace

void xlc::buildTimeline(const Step &step, TimelineOp timeline) { TimelineBuilder(step, timeline).build(); }
