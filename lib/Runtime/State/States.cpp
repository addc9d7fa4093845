// See States.h.
#include "States.h"

namespace xlc::runtime {
namespace {

HeldState hold(const Plan &plan, const plan::StatePlaceT &home, int rank) {
  const plan::StateT &row = *plan.states[home.state];
  const plan::BucketT &bucket = *plan.buckets[*row.bucket];
  uint64_t offset = offsetOf(*home.place, rank, *plan.mesh);
  if (row.extent == plan::Extent::Whole)
    return {&row, 0, bucket.elements, offset};
  uint64_t begin = bucket.shard_elements * shardOf(plan, rank);
  return {&row, begin, begin + bucket.shard_elements, offset};
}

template <class Suits> std::optional<HeldState> findState(const Plan &plan, int rank, uint32_t bucket, Suits suits) {
  for (const auto &home : trainingProgramOf(plan, rank).states)
    if (const plan::StateT &row = *plan.states[home->state]; row.bucket == bucket && isOfBucket(row) && suits(row))
      return hold(plan, *home, rank);
  return std::nullopt;
}

} // namespace

void forEachState(const Plan &plan, int rank, const std::function<void(const HeldState &)> &visit) {
  for (const auto &home : trainingProgramOf(plan, rank).states)
    if (isOfBucket(*plan.states[home->state]))
      visit(hold(plan, *home, rank));
}

std::optional<HeldState> findRead(const Plan &plan, int rank, uint32_t bucket) {
  return findState(plan, rank, bucket, isRead);
}

std::optional<HeldState> findMoved(const Plan &plan, int rank, uint32_t bucket) {
  auto isMaster = [](const plan::StateT &row) { return row.kind == plan::StateKind::Master; };
  std::optional<HeldState> master = findState(plan, rank, bucket, isMaster);
  return master ? master : findRead(plan, rank, bucket);
}

std::optional<HeldState> findAverage(const Plan &plan, int rank, uint32_t bucket) {
  auto isAverage = [](const plan::StateT &row) {
    return row.kind == plan::StateKind::Optimizer && row.name == kAverageState;
  };
  std::optional<HeldState> average = findState(plan, rank, bucket, isAverage);
  return average ? average : findMoved(plan, rank, bucket);
}

int findFirstHolder(const Plan &plan, uint32_t bucket) {
  uint32_t first = 0;
  while (!findRead(plan, (int)first, bucket))
    first += stageRanks(plan);
  return (int)first;
}

PieceShape shapeOf(const Plan &plan, const plan::ParameterT &parameter) {
  if (!parameter.layout)
    return PieceShape::whole(parameter.elements);
  const plan::LayoutT &layout = *parameter.layout;
  uint64_t rest = 1;
  for (size_t i = layout.dim + 1; i < parameter.shape.size(); ++i)
    rest *= parameter.shape[i];
  return PieceShape::cut(parameter.shape[layout.dim], layout.outer, groupSize(*plan.rank_groups[layout.group]), rest);
}

BucketMember memberOf(const Plan &plan, const plan::ParameterT &parameter, int rank) {
  uint64_t index = parameter.layout ? indexIn(*plan.rank_groups[parameter.layout->group], plan, rank) : 0;
  return {parameter.offset, parameter.offset + parameter.elements, index, shapeOf(plan, parameter)};
}

const plan::StateT &rowOfRead(const Plan &plan, uint32_t bucket) {
  return **std::ranges::find_if(plan.states, [&](const auto &row) { return row->bucket == bucket && isRead(*row); });
}

bool isTrained(const Plan &plan, const plan::ParameterT &parameter) {
  return !parameter.frozen && changesInUpdates(rowOfRead(plan, parameter.bucket));
}

bool isHeldRounded(const Plan &plan, const plan::ParameterT &parameter) {
  return parameter.frozen && isNarrow(rowOfRead(plan, parameter.bucket).element);
}

bool isSaved(const Plan &plan, const plan::StateT &state) {
  switch (state.kind) {
  case plan::StateKind::Master:
  case plan::StateKind::Optimizer:
  case plan::StateKind::RunningAverage:
    return true;
  case plan::StateKind::Value:
    return std::ranges::none_of(plan.states, [&](const auto &other) {
      return other->bucket == state.bucket && other->kind == plan::StateKind::Master;
    });
  default:
    return false;
  }
}

std::vector<bool> findUpdates(const Plan &plan, const plan::ProgramT &program) {
  std::vector<bool> isKept(program.buffers.size()), updates(program.steps.size());
  for (const auto &home : program.states)
    if (const plan::StateT &row = *plan.states[home->state]; isSaved(plan, row) && changesInUpdates(row))
      isKept[home->place->buffer()] = true;
  auto changes = [&](const plan::Place &place) { return isKept[place.buffer()]; };
  for (size_t i = 0; i < updates.size(); ++i) {
    const plan::ActionUnion &action = program.steps[i]->action;
    if (const auto *run = action.AsRun()) {
      for (const auto &call : plan.functions[run->function]->calls)
        for (const plan::Operand &out : call->outs)
          updates[i] = updates[i] || changes(run->places[out.slot()]);
    } else if (const auto *exchange = action.AsExchange()) {
      updates[i] = changes(*exchange->dst);
    } else if (const auto *receive = action.AsReceive()) {
      updates[i] = changes(*receive->place);
    }
  }
  return updates;
}

plan::Element storedElement(const Plan &plan, uint32_t bucket) {
  auto master = std::ranges::find_if(
      plan.states, [&](const auto &row) { return row->bucket == bucket && row->kind == plan::StateKind::Master; });
  plan::Element moved = master == plan.states.end() ? rowOfRead(plan, bucket).element : (*master)->element;
  return isNarrow(moved) ? plan::Element::F32 : moved;
}

/// The numbers of a bucket's table of members for the piece that a rank updates.
static std::vector<int64_t> memberTable(const Plan &plan, const plan::StateT &row, int rank) {
  std::vector<const plan::ParameterT *> members;
  for (const auto &parameter : plan.parameters)
    if (parameter->bucket == row.bucket)
      members.push_back(parameter.get());
  std::ranges::sort(members, {}, &plan::ParameterT::offset);
  uint64_t first =
      row.extent == plan::Extent::Shard ? plan.buckets[*row.bucket]->shard_elements * shardOf(plan, rank) : 0;
  std::vector<int64_t> table((size_t)elementsOfMemberTable((int64_t)members.size()));
  for (size_t i = 0; i < members.size(); ++i)
    putMember(memberOf(plan, *members[i], rank), hashName(members[i]->name), first, i, members.size(), table.data());
  return table;
}

void forEachFirstNumber(const Plan &plan, const plan::ProgramT &program, int rank,
                        const std::function<void(uint64_t, plan::Element, int64_t)> &write) {
  for (const auto &home : program.states) {
    const plan::StateT &row = *plan.states[home->state];
    uint64_t offset = offsetOf(*home->place, rank, *plan.mesh);
    if (row.begins == plan::Beginning::Index)
      write(offset, row.element, (int64_t)indexIn(*plan.rank_groups[*row.group], plan, rank));
    else if (row.begins == plan::Beginning::Site)
      write(offset, row.element, (int64_t)subsequenceOfSite(*row.site));
    else if (!row.bucket && row.begins == plan::Beginning::One)
      write(offset, row.element, 1);
    else if (row.begins == plan::Beginning::Members)
      for (int64_t number : memberTable(plan, row, rank)) {
        write(offset, row.element, number);
        offset += bytesOf(row.element);
      }
  }
}

} // namespace xlc::runtime
