// See Collectives.h. In an all_reduce each rank sums a slice for all:
//
//   enter | rank i: slice i of all results = sum of slice i of all | leave
//
// Only rank i reads slice i, so it may write it in place. It writes each block of the result to all ranks while a cache
// holds it.
#include "Collectives.h"

#include "Slicing.h"

namespace xlc::runtime {

Collectives::Collectives(const Plan &plan, int spins, Commons &commons) : commons(commons), waiter(commons, spins) {
  for (const auto &group : plan.rank_groups) {
    axes.push_back(group->axis);
    for (auto &ofStream : memberships)
      ofStream.emplace_back(rankCount(plan));
    for (int rank = 0; rank < (int)rankCount(plan); ++rank) {
      if (memberships[0].back()[rank].group || !takesPart(*group, (uint32_t)rank / stageRanks(plan)))
        continue;
      std::vector<int> all = membersOf(*group, plan, rank);
      for (auto &ofStream : memberships) {
        Group made{all.size(), commons.reserve<Seat>(all.size()), commons.reserve<Barrier>()};
        groups.push_back(std::make_unique<Group>(made));
        for (size_t index = 0; index < all.size(); ++index)
          ofStream.back()[all[index]] = {groups.back().get(), index, {}, {}};
      }
    }
  }
}

void Collectives::meet(const Group &group, const Participant &self) const {
  waiter.wait(commons.at(group.barrier), group.size, self.pulse);
}

void Collectives::run(const Exchange &exchange, const Participant &self) {
  Membership &member = memberships[(size_t)exchange.stream][exchange.group][self.rank];
  commons.at(member.group->seats, member.index) = {commons.numberOf(exchange.src), commons.numberOf(exchange.dst)};
  meet(*member.group, self);
  switch (exchange.kind) {
  case plan::CollectiveKind::all_reduce:
  case plan::CollectiveKind::all_reduce_max:
    allReduce(exchange, member, self);
    break;
  case plan::CollectiveKind::all_gather:
    allGather(exchange, member, self);
    break;
  case plan::CollectiveKind::reduce_scatter:
    reduceScatter(exchange, member, self);
    break;
  case plan::CollectiveKind::all_to_all:
    allToAll(exchange, member, self);
    break;
  }
  meet(*member.group, self);
}

void Collectives::allGather(const Exchange &exchange, const Membership &member, const Participant &self) {
  uint64_t ranks = member.group->size, bytes = exchange.chunk * bytesOf(exchange.element);
  for (uint64_t peer = 0; peer < ranks; ++peer) {
    self.mover.copy({sourceOf(*member.group, peer),
                     exchange.dst + peer * bytes,
                     bytes,
                     exchange.outer,
                     1,
                     {.outer = bytes},
                     {.outer = ranks * bytes}});
    if (peer != member.index)
      counterOf(exchange, self).allGather += exchange.outer * bytes;
  }
}

/// Of every peer, the chunks for this rank: they lie among the peer's others as this rank's own lie among what it gets.
void Collectives::allToAll(const Exchange &exchange, const Membership &member, const Participant &self) {
  uint64_t ranks = member.group->size, rows = exchange.rows, bytes = exchange.chunk * bytesOf(exchange.element);
  auto begin = [&](bool ranksFirst, uint64_t rank) { return rank * (ranksFirst ? rows : 1) * bytes; };
  auto steps = [&](bool ranksFirst) { return Copy::Steps{ranks * rows * bytes, (ranksFirst ? 1 : ranks) * bytes}; };
  for (uint64_t peer = 0; peer < ranks; ++peer) {
    self.mover.copy({sourceOf(*member.group, peer) + begin(exchange.ranksFirst, member.index),
                     exchange.dst + begin(!exchange.ranksFirst, peer), bytes, exchange.outer, rows,
                     steps(exchange.ranksFirst), steps(!exchange.ranksFirst)});
    if (peer != member.index)
      counterOf(exchange, self).allToAll += exchange.outer * rows * bytes;
  }
}

std::span<const char *const> Collectives::findSources(Membership &member) const {
  member.sources.resize(member.group->size);
  for (uint64_t peer = 0; peer < member.group->size; ++peer)
    member.sources[peer] = sourceOf(*member.group, peer);
  return member.sources;
}

void Collectives::reduceScatter(const Exchange &exchange, Membership &member, const Participant &self) {
  uint64_t ranks = member.group->size, chunk = exchange.chunk;
  self.mover.combine({Combine::Sum, exchange.element, findSources(member), member.index * chunk, ranks * chunk, chunk,
                      exchange.outer, exchange.dst, exchange.accumulate, exchange.wire});
  counterOf(exchange, self).reduceScatter += (ranks - 1) * exchange.outer * chunk * bytesOf(exchange.wire);
}

void Collectives::allReduce(const Exchange &exchange, Membership &member, const Participant &self) {
  uint64_t ranks = member.group->size, size = bytesOf(exchange.element), crossing = bytesOf(exchange.wire);
  Slicing slicing = sliceOf(exchange, ranks);
  uint64_t own = slicing.begin(member.index), length = slicing.length(member.index);
  member.copies.clear();
  for (uint64_t peer = 0; peer < ranks; ++peer)
    if (peer != member.index)
      member.copies.push_back(commons.addressOf(commons.at(member.group->seats, peer).dst) + own * size);
  self.mover.combine({combinationOf(exchange), exchange.element, findSources(member), own, 0, length, 1,
                      exchange.dst + own * size, false, exchange.wire, member.copies});
  uint64_t others = slicing.run - length; // which peers write
  counterOf(exchange, self).allReduce += ((ranks - 1) * length + others) * crossing;
}

} // namespace xlc::runtime
