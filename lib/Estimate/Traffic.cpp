// See Traffic.h. The slices of an all_reduce are those of lib/Runtime/Fabric/Collectives.cpp.
#include "xlc/Estimate/Traffic.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xlc;

namespace {

constexpr int64_t sliceGrain = 16; // elements

/// What a rank exchanges with a group, or (no group) receives from another stage.
struct Message {
  Quantity MessageBytes::*kind;
  dist::GroupAttr group;
  int64_t count; ///< elements of a slice; of an all_reduce, of all of it
  Type element;
  bool isInFunction = false;
  int64_t times = 1; ///< a step

  Quantity bytes(Quantity elements) const {
    return elements * graph::getByteSize(RankedTensorType::get({1}, element)) * times;
  }
};

Quantity MessageBytes::*countedAs(dist::CollectiveKind kind) {
  switch (kind) {
  case dist::CollectiveKind::all_reduce:
  case dist::CollectiveKind::all_reduce_max:
    return &MessageBytes::allReduce;
  case dist::CollectiveKind::all_gather:
    return &MessageBytes::allGather;
  case dist::CollectiveKind::reduce_scatter:
    return &MessageBytes::reduceScatter;
  case dist::CollectiveKind::all_to_all:
    return &MessageBytes::allToAll;
  }
  llvm_unreachable("a collective of no kind");
}

Message messageOf(const exec::Exchange &what) {
  return {countedAs(what.kind), what.group, what.outer * what.rows * what.chunk, what.wire ? what.wire : what.element};
}

/// All messages of a step; those of a function that it runs stand once, with the number of its runs.
SmallVector<Message> listMessages(exec::ProgramOp program) {
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  llvm::StringMap<int64_t> runs;
  SmallVector<Message> messages;
  for (Operation &op : program.getBody().front()) {
    if (auto run = dyn_cast<exec::RunOp>(op)) {
      ++runs[run.getFunction()];
    } else if (auto exchange = dyn_cast<exec::ExchangeOp>(op)) {
      messages.push_back(messageOf(exchange.getExchange()));
    } else if (auto receive = dyn_cast<exec::ReceiveOp>(op)) {
      Type byte = IntegerType::get(op.getContext(), 8);
      messages.push_back({&MessageBytes::transfer, {}, (int64_t)receive.getBytes(), byte});
    }
  }
  for (const auto &[name, times] : runs) {
    auto function = symbols.lookup<func::FuncOp>(name);
    if (!function || function.isExternal())
      continue;
    for (auto collective : function.getOps<exec::CollectiveOp>()) {
      Message &message = messages.emplace_back(messageOf(collective.getExchange()));
      message.isInFunction = true, message.times = times;
    }
  }
  return messages;
}

/// What a bucket's collectives move: slices of a shard group, or a sum over `group` of its whole or a slice.
struct BucketMessages {
  sched::BucketOp bucket;
  dist::MeshAttr mesh;

  int64_t slice() const { return sched::BucketOp(bucket).getElements() / mesh.getShards(); }
  /// Parameters are gathered, gradients summed.
  Message sliced(Quantity MessageBytes::*kind) const {
    bool isGather = kind == &MessageBytes::allGather;
    return {kind, dist::GroupAttr::shards(mesh), slice(),
            isGather ? sched::BucketOp(bucket).getTypeOfParameters() : gradients()};
  }
  Type gradients() const { return sched::BucketOp(bucket).getTypeOnWire(); }
  Message summed(dist::GroupAttr group, bool isSlice) const {
    return {&MessageBytes::allReduce, group, isSlice ? slice() : slice() * mesh.getShards(), gradients()};
  }
};

/// Messages of a timeline's buckets; not of its scalars, nor within its functions.
SmallVector<Message> listMessages(sched::TimelineOp timeline) {
  SymbolTable symbols(timeline->getParentOfType<ModuleOp>());
  SmallVector<Message> messages;
  for (auto collective : timeline.getBody().front().getOps<sched::CollectiveOp>()) {
    BucketMessages bucket{symbols.lookup<sched::BucketOp>(collective.getBucket()), timeline.getMesh()};
    messages.push_back(collective.getGroupAttr()
                           ? bucket.summed(collective.getGroupAttr(), collective.getExtent() == sched::Extent::shard)
                           : bucket.sliced(countedAs(collective.getKind())));
  }
  return messages;
}

/// At ZeRO stage 1 each trained bucket of the program's stage is reduced once and gathered once per step.
SmallVector<Message> listMessagesOfStageOne(exec::ProgramOp program) {
  dist::MeshAttr mesh = program.getMesh();
  SmallVector<Message> messages;
  for (auto bucketOp : program->getParentOfType<ModuleOp>().getOps<sched::BucketOp>()) {
    if (!sched::isOnStage(bucketOp, program.getStage()) || (int64_t)bucketOp.getGroup() < 0)
      continue;
    BucketMessages bucket{bucketOp, mesh};
    messages.push_back(bucket.sliced(&MessageBytes::reduceScatter));
    messages.push_back(bucket.sliced(&MessageBytes::allGather));
    if (mesh.getDp() > mesh.getShards())
      messages.push_back(bucket.summed(dist::GroupAttr::replicas(mesh), /*isSlice=*/true));
  }
  return messages;
}

/// Elements that the member of an index reads in an all_reduce: its own slice from all others, then the others' slices.
Quantity elementsOfAllReduce(int64_t count, int64_t index, int64_t ranks) {
  int64_t each = llvm::alignTo(llvm::divideCeil(count, ranks), sliceGrain);
  auto begin = [&](int64_t index) { return std::min(count, index * each); };
  int64_t own = begin(index + 1) - begin(index);
  return Quantity(ranks - 1) * own + (count - own);
}

bool isSmall(const Message &message) { return message.group && !message.isInFunction && message.count < sliceGrain; }

/// Adds up what `elementsOf` says that a message reads.
Traffic addUp(ArrayRef<Message> messages, llvm::function_ref<Quantity(const Message &)> elementsOf) {
  Traffic traffic;
  for (const Message &message : messages) {
    Quantity bytes = message.bytes(elementsOf(message));
    traffic.along(message.group ? message.group.getAxis() : dist::Axis::pp).*message.kind += bytes;
    traffic.smallMessages += isSmall(message) ? bytes : Quantity();
  }
  return traffic;
}

/// What all ranks of a stage read; a collective of several stages counts for the first of them.
Traffic trafficOfStage(exec::ProgramOp program) {
  int64_t ranks = program.getMesh().getStageRanks();
  return addUp(listMessages(program), [&](const Message &message) -> Quantity {
    if (!message.group)
      return Quantity(ranks) * message.count;
    ArrayRef<int64_t> stages = message.group.getStages();
    if (!stages.empty() && stages.front() != (int64_t)program.getStage())
      return 0;
    int64_t size = message.group.size(), all = ranks * std::max<int64_t>(1, stages.size());
    bool isReduction = message.kind == &MessageBytes::allReduce;
    return Quantity(isReduction ? all / size * 2 : all) * (size - 1) * message.count;
  });
}

/// Elements that a rank of a mesh reads of one message.
Quantity elementsRead(const Message &message, dist::MeshAttr mesh, int64_t rank) {
  if (!message.group)
    return message.count;
  int64_t size = message.group.size();
  if (message.kind != &MessageBytes::allReduce)
    return Quantity(size - 1) * message.count;
  return elementsOfAllReduce(message.count, message.group.indexOf(mesh, rank), size);
}

/// What one rank of a mesh reads.
Traffic addUpOfRank(ArrayRef<Message> messages, dist::MeshAttr mesh, int64_t rank) {
  return addUp(messages, [&](const Message &message) { return elementsRead(message, mesh, rank); });
}

/// Along dp, what the first rank of a stage reads: it has the longest slices.
Quantity addUpOverDp(ArrayRef<Message> messages, dist::MeshAttr mesh, int64_t stage) {
  return addUpOfRank(messages, mesh, mesh.rankOf(stage, 0, 0)).along(dist::Axis::dp).total();
}

} // namespace

MessageBytes Traffic::sum() const {
  MessageBytes sum;
  for (const MessageBytes &axis : axes)
    sum += axis;
  return sum;
}

Traffic &Traffic::operator+=(const Traffic &other) {
  for (auto [mine, theirs] : llvm::zip(axes, other.axes))
    mine += theirs;
  smallMessages += other.smallMessages;
  return *this;
}

Quantity xlc::bytesRead(const exec::Exchange &exchange, dist::MeshAttr mesh, int64_t rank) {
  Message message = messageOf(exchange);
  return message.bytes(elementsRead(message, mesh, rank));
}

Traffic xlc::trafficOfRank(exec::ProgramOp program, int64_t rank) {
  return addUpOfRank(listMessages(program), program.getMesh(), rank);
}

Quantity xlc::trafficOfBuckets(sched::TimelineOp timeline) {
  return addUpOverDp(listMessages(timeline), timeline.getMesh(), timeline.getStage());
}

ZeroPrice xlc::priceOfZero(exec::ProgramOp program) {
  SmallVector<Message> messages = listMessages(program);
  llvm::erase_if(messages, isSmall);
  return {addUpOverDp(messages, program.getMesh(), program.getStage()),
          addUpOverDp(listMessagesOfStageOne(program), program.getMesh(), program.getStage())};
}

Traffic xlc::trafficOfLargest(exec::ProgramOp program) {
  return trafficOfRank(program, program.getMesh().rankOf(program.getStage(), 0, 0));
}

Traffic xlc::trafficOfAllRanks(ModuleOp module) {
  Traffic traffic;
  for (exec::ProgramOp program : exec::programsOf(module))
    traffic += trafficOfStage(program);
  return traffic;
}
