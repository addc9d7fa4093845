// The reads and stores of each call of an entry, from the names on its arguments and results; the values that cross
// between pipeline stages, and the one order of all messages.
//
// Positions count through a micro-batch: forward of chunk 0 to S - 1, then backward of chunk S - 1 to 0. A value moves
// from its position to the next, so that it only ever goes to a neighbour:
//
//     chunk       0    1    2    3
//     forward     x -> x -> x -> use         x, made by chunk 0, is used by chunk 3: 1 and 2 relay it
#include "StepRuns.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <set>

using namespace mlir;
using namespace xlc;

std::vector<UnitRun> xlc::findRuns(graph::Entry entry, bool splitsBackward) {
  func::FuncOp function = entry.getFunction();
  auto module = function->getParentOfType<ModuleOp>();
  Builder builder(function.getContext());
  DenseMap<Value, Attribute> named; // returned value -> where it is stored
  if (entry.isTraining()) {
    named[entry.getLoss().get()] = builder.getStringAttr(sched::kLossSum);
    named[entry.getCount().get()] = builder.getStringAttr(sched::kLossCount);
  }
  for (OpOperand *sum : entry.getSums())
    named[sum->get()] = builder.getStringAttr("@" + entry.getSumName(*sum).getValue());
  for (OpOperand *buffer : entry.getBuffers())
    named[buffer->get()] = entry.getBufferName(*buffer);
  for (OpOperand *gradient : entry.getGradients())
    named[gradient->get()] = entry.getGradientName(*gradient);
  std::vector<UnitRun> runs;
  for (auto call : function.front().getOps<func::CallOp>()) {
    graph::Role role = graph::getRole(call).value_or(graph::Role::F);
    SlotKind kind = role == graph::Role::F   ? SlotKind::F
                    : !splitsBackward        ? SlotKind::B
                    : role == graph::Role::I ? SlotKind::I
                                             : SlotKind::W;
    int64_t chunk = graph::getChunk(call);
    UnitRun run{call, kind, chunk, graph::getStage(module, chunk), {}, {}, {}, {}};
    int64_t params = call->getAttrOfType<IntegerAttr>(graph::kParams).getInt();
    int64_t stores = call->getAttrOfType<IntegerAttr>(graph::kStores).getInt();
    for (Value value : call.getOperands().drop_back(params))
      if (auto site = value.getDefiningOp<graph::SiteOp>())
        run.sites.push_back(site.getSite());
      else
        run.values.push_back(value);
    for (Value param : call.getOperands().take_back(params))
      run.params.push_back(graph::Argument(function, cast<BlockArgument>(param).getArgNumber()).getParameter());
    for (Value result : call.getResults().take_back(stores))
      run.stores.push_back(named.lookup(result));
    runs.push_back(std::move(run));
  }
  return runs;
}

namespace {

/// The way of one value: the positions at which some chunk holds it.
class Way {
public:
  Way(Value value, int64_t made, const PipelineSchedule &schedule, const PipelineShape &shape, std::vector<Hop> &hops)
      : value(value), made(made), schedule(schedule), shape(shape), hops(hops) {
    hold(made);
  }

  void leadTo(int64_t position) {
    bool isMadeForward = made < shape.chunks(), isNeededAhead = chunkAt(position) >= chunkAt(made);
    if (isMadeForward && isNeededAhead)
      position = chunkAt(position); // comes with forward, and stays until backward
    if (isOnRank(chunkAt(position)))
      return hold(position);
    int64_t at = *std::prev(held.upper_bound(position));
    for (; at < position; ++at) {
      int64_t from = chunkAt(at), to = chunkAt(at + 1);
      SlotKind backward = schedule.splitsBackward ? SlotKind::I : SlotKind::B;
      if (!isOnRank(to))
        hops.push_back({value, at < shape.chunks() ? SlotKind::F : backward, from, to});
      hold(at + 1);
    }
  }

private:
  int64_t chunkAt(int64_t position) const {
    return position < shape.chunks() ? position : 2 * shape.chunks() - 1 - position;
  }
  bool isOnRank(int64_t chunk) const {
    return llvm::any_of(held, [&](int64_t position) {
      return schedule.rankOf(shape, chunkAt(position)) == schedule.rankOf(shape, chunk);
    });
  }
  /// What a chunk holds in forward it holds in backward.
  void hold(int64_t position) {
    held.insert(position);
    held.insert(std::max(position, 2 * shape.chunks() - 1 - position));
  }

  Value value;
  int64_t made;
  const PipelineSchedule &schedule;
  const PipelineShape &shape;
  std::vector<Hop> &hops;
  std::set<int64_t> held;
};

} // namespace

std::vector<Hop> xlc::findHops(ArrayRef<UnitRun> runs, const PipelineSchedule &schedule, const PipelineShape &shape) {
  auto positionOf = [&](const UnitRun &run) {
    return run.kind == SlotKind::F ? run.chunk : 2 * shape.chunks() - 1 - run.chunk;
  };
  llvm::MapVector<Value, std::set<int64_t>> uses; // in the order of definition
  DenseMap<Value, int64_t> made;
  for (const UnitRun &run : runs) {
    for (Value value : run.values)
      if (auto it = uses.find(value); it != uses.end())
        it->second.insert(positionOf(run));
    for (Value value : run.outs()) {
      uses[value];
      made[value] = positionOf(run);
    }
  }
  std::vector<Hop> hops;
  for (auto &[value, positions] : uses) {
    Way way(value, made.lookup(value), schedule, shape, hops);
    for (int64_t position : positions)
      way.leadTo(position);
  }
  return hops;
}

namespace {

/// When ranks are between two slots.
class Pauses {
public:
  Pauses(const PipelineOrder &order, const PipelineTimes &times) : times(times) {
    for (auto [rank, slots] : llvm::enumerate(order))
      for (auto [n, slot] : llvm::enumerate(slots))
        places[{slot.kind, slot.chunk, slot.microBatch}] = {rank, n};
  }

  /// The first moment at which neither the sender's nor the receiver's rank is at work, after the slot that makes the
  /// value and before the one of the receiver that takes it on; where there is none, when the value is made.
  int64_t findMeeting(const Hop &hop, int64_t microBatch) const {
    auto [from, producer] = places.at({hop.kind, hop.from, microBatch});
    auto [to, consumer] = places.at({hop.kind, hop.to, microBatch});
    int64_t made = times.end[from][producer], needed = times.begin[to][consumer], now = made;
    while (now <= needed) {
      int64_t free = whenFree(to, whenFree(from, now));
      if (free == now)
        return now;
      now = free;
    }
    return made;
  }

private:
  /// The time itself, or the end of the slot within which it lies.
  int64_t whenFree(size_t rank, int64_t time) const {
    const std::vector<int64_t> &begin = times.begin[rank], &end = times.end[rank];
    size_t n = llvm::lower_bound(begin, time) - begin.begin(); // slots that have begun before
    return n > 0 ? std::max(time, end[n - 1]) : time;
  }

  const PipelineTimes &times;
  std::map<std::tuple<SlotKind, int64_t, int64_t>, std::pair<size_t, size_t>> places; ///< slot -> rank, index
};

} // namespace

std::vector<Transfer> xlc::orderTransfers(ArrayRef<Hop> hops, const PipelineOrder &order, const PipelineTimes &times) {
  std::vector<Transfer> transfers;
  Pauses pauses(order, times);
  std::map<std::tuple<SlotKind, int64_t>, std::vector<size_t>> leaving; // slot -> hops after it
  for (auto [i, hop] : llvm::enumerate(hops))
    leaving[{hop.kind, hop.from}].push_back(i);
  for (const std::vector<Slot> &slots : order)
    for (const Slot &slot : slots)
      if (auto it = leaving.find({slot.kind, slot.chunk}); it != leaving.end())
        for (size_t i : it->second)
          transfers.push_back({hops[i], slot.microBatch, pauses.findMeeting(hops[i], slot.microBatch), int64_t(i)});
  llvm::sort(transfers, [](const Transfer &a, const Transfer &b) { // the number is that of the hop as yet
    return std::tuple(a.time, a.hop.from, a.microBatch, a.number) <
           std::tuple(b.time, b.hop.from, b.microBatch, b.number);
  });
  for (auto [number, transfer] : llvm::enumerate(transfers))
    transfer.number = number;
  return transfers;
}
