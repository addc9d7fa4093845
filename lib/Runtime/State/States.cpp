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
  for (const auto &home : programOf(plan, rank).states)
    if (const plan::StateT &row = *plan.states[home->state]; row.bucket == bucket && suits(row))
      return hold(plan, *home, rank);
  return std::nullopt;
}

} // namespace

void forEachState(const Plan &plan, int rank, const std::function<void(const HeldState &)> &visit) {
  for (const auto &home : programOf(plan, rank).states)
    if (plan.states[home->state]->bucket)
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

plan::Element storedElement(const Plan &plan, uint32_t bucket) {
  auto master = std::ranges::find_if(
      plan.states, [&](const auto &row) { return row->bucket == bucket && row->kind == plan::StateKind::Master; });
  plan::Element moved = master == plan.states.end() ? rowOfRead(plan, bucket).element : (*master)->element;
  return isNarrow(moved) ? plan::Element::F32 : moved;
}

void forEachFirstNumber(const Plan &plan, int rank,
                        const std::function<void(uint64_t, plan::Element, int64_t)> &write) {
  for (const auto &home : programOf(plan, rank).states) {
    const plan::StateT &row = *plan.states[home->state];
    uint64_t offset = offsetOf(*home->place, rank, *plan.mesh);
    if (row.begins == plan::Beginning::Index)
      write(offset, row.element, (int64_t)indexIn(*plan.rank_groups[*row.group], plan, rank));
    else if (!row.bucket && row.begins == plan::Beginning::One)
      write(offset, row.element, 1);
  }
}

} // namespace xlc::runtime
