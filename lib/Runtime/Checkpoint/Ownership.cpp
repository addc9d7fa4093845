// See Ownership.h.
#include "Ownership.h"

#include "Plan/Philox.h"

#include <algorithm>
#include <map>

namespace xlc::runtime {
namespace {

constexpr uint64_t wholeBelow = 1 << 20; // bytes
constexpr uint64_t grain = 64;           // elements

struct Replica {
  uint64_t number = 0, count = 0;
};

/// Among the ranks of a stage that hold the same elements: of a piece of `group`, none where it is not cut, and of a
/// shard or all of a bucket.
class Replicas {
public:
  Replicas(const Plan &plan, int rank) : plan(plan), rank(rank) {}

  const Replica &of(std::optional<uint32_t> group, plan::Extent extent) {
    auto [it, isNew] = known.try_emplace({group, extent});
    if (isNew)
      it->second = count(group, extent);
    return it->second;
  }

private:
  Replica count(std::optional<uint32_t> group, plan::Extent extent) const {
    auto placeOf = [&](int each) {
      return std::pair(group ? indexIn(*plan.rank_groups[*group], plan, each) : 0,
                       extent == plan::Extent::Shard ? shardOf(plan, each) : 0);
    };
    auto ranks = (int)stageRanks(plan), first = rank / ranks * ranks;
    Replica found;
    for (int each = first; each < first + ranks; ++each)
      if (placeOf(each) == placeOf(rank)) {
        found.number += each < rank;
        ++found.count;
      }
    return found;
  }

  const Plan &plan;
  const int rank;
  std::map<std::pair<std::optional<uint32_t>, plan::Extent>, Replica> known;
};

/// The replica's part of elements [begin, end).
std::pair<uint64_t, uint64_t> partOf(const Replica &replica, uint64_t begin, uint64_t end, uint64_t elementBytes,
                                     const std::string &name) {
  uint64_t count = end - begin;
  if (count * elementBytes < wholeBelow)
    return hashName(name) % replica.count == replica.number ? std::pair(begin, end) : std::pair(begin, begin);
  auto border = [&](uint64_t number) {
    return number == replica.count ? count : count / replica.count * number / grain * grain;
  };
  return {begin + border(replica.number), begin + border(replica.number + 1)};
}

TensorCut cutOf(const Plan &plan, const plan::ParameterT &parameter) {
  if (!parameter.layout)
    return {};
  const plan::LayoutT &layout = *parameter.layout;
  return {layout.dim, layout.outer, groupSize(*plan.rank_groups[layout.group])};
}

} // namespace

SavedTensor describeTensor(const Plan &plan, const plan::StateT &state, const plan::ParameterT &parameter) {
  plan::Element element = isHeldRounded(plan, parameter) ? storedElement(plan, parameter.bucket) : state.element;
  std::string kind(kParameterKind);
  if (state.kind == plan::StateKind::RunningAverage)
    kind = kBufferKind;
  if (state.kind == plan::StateKind::Optimizer)
    kind = state.name;
  return {parameter.name, kind, nameOf(element), parameter.shape, cutOf(plan, parameter), {}};
}

std::vector<SavedTensor> listTensors(const Plan &plan) {
  std::vector<SavedTensor> tensors;
  for (const auto &parameter : plan.parameters)
    for (const auto &state : plan.states)
      if (state->bucket == parameter->bucket && isSaved(plan, *state))
        tensors.push_back(describeTensor(plan, *state, *parameter));
  return tensors;
}

/// Calls visit(part, replica) for each part of a saved tensor that the rank holds, where its stage is the first with it.
static void forEachHeldPart(const Plan &plan, int rank,
                            const std::function<void(const HeldPart &, const Replica &)> &visit) {
  std::vector<std::vector<HeldState>> held(plan.buckets.size());
  forEachState(plan, rank, [&](const HeldState &state) {
    uint32_t bucket = *state.row->bucket;
    if (isSaved(plan, *state.row) && stageOf(plan, findFirstHolder(plan, bucket)) == stageOf(plan, rank))
      held[bucket].push_back(state);
  });
  Replicas replicas(plan, rank);
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    const plan::ParameterT &parameter = *plan.parameters[i];
    for (const HeldState &state : held[parameter.bucket]) {
      uint64_t first = std::max(state.begin, parameter.offset);
      uint64_t last = std::min(state.end, parameter.offset + parameter.elements);
      if (first >= last)
        continue;
      std::optional<uint32_t> group = parameter.layout ? std::optional(parameter.layout->group) : std::nullopt;
      PieceRange range{memberOf(plan, parameter, rank).index, first - parameter.offset, last - parameter.offset};
      visit({state, i, range, first}, replicas.of(group, state.row->extent));
    }
  }
}

std::vector<std::string> listOptimizerStates(const Plan &plan) {
  std::vector<std::string> names;
  for (const auto &state : plan.states)
    if (state->kind == plan::StateKind::Optimizer && std::ranges::find(names, state->name) == names.end())
      names.push_back(state->name);
  std::ranges::sort(names);
  return names;
}

void forEachOwnedPart(const Plan &plan, int rank, const std::function<void(const HeldPart &)> &visit) {
  forEachHeldPart(plan, rank, [&](const HeldPart &part, Replica replica) {
    if (!changesInUpdates(*part.held.row)) { // each rank has its own: dp index 0 writes all
      if (replica.number > 0)
        return;
      replica.count = 1;
    }
    auto [begin, end] = partOf(replica, part.range.begin, part.range.end, bytesOf(part.held.row->element),
                               plan.parameters[part.parameter]->name);
    uint64_t inBucket = part.inBucket + (begin - part.range.begin);
    if (begin < end)
      visit({part.held, part.parameter, {part.range.index, begin, end}, inBucket});
  });
}

void forEachSharedPart(const Plan &plan, int rank, const std::function<void(const HeldPart &)> &visit) {
  forEachHeldPart(plan, rank, [&](const HeldPart &part, const Replica &replica) {
    bool isAlike = changesInUpdates(*part.held.row) && !isHeldRounded(plan, *plan.parameters[part.parameter]);
    if (replica.count > 1 && isAlike)
      visit(part);
  });
}

} // namespace xlc::runtime
