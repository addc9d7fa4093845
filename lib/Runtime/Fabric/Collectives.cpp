// See Collectives.h. all_reduce is a reduce_scatter of slices followed by an all_gather of them:
//
//   enter | rank i: slice i of its own arena = sum of slice i of all | meet | copy the others' slices | leave
//
// Rank i is the only one that reads slice i before the middle rendezvous, so it may write it in place.
#include "Collectives.h"

#include <algorithm>

namespace xlc::runtime {

constexpr uint64_t sliceGrain = 16; // elements; slices begin on cache lines

Collectives::Collectives(const Plan &plan, int spins, const StopSignal &stop) : stop(stop) {
  for (const auto &group : plan.rank_groups) {
    axes.push_back(group->axis);
    for (auto &ofStream : memberships)
      ofStream.emplace_back(rankCount(plan));
    for (int rank = 0; rank < (int)rankCount(plan); ++rank) {
      if (memberships[0].back()[rank].group || !takesPart(*group, (uint32_t)rank / stageRanks(plan)))
        continue;
      std::vector<int> all = membersOf(*group, plan, rank);
      for (auto &ofStream : memberships) {
        Group *made = groups.emplace_back(std::make_unique<Group>(all.size(), spins)).get();
        for (size_t index = 0; index < all.size(); ++index)
          ofStream.back()[all[index]] = {made, index};
      }
    }
  }
}

void Collectives::run(const Exchange &exchange, const Participant &self) {
  Membership member = memberships[(size_t)exchange.stream][exchange.group][self.rank];
  MovedBytes &counter = self.moved[axes[exchange.group]];
  member.group->src[member.index] = exchange.src, member.group->dst[member.index] = exchange.dst;
  member.group->barrier.wait(stop);
  switch (exchange.kind) {
  case plan::CollectiveKind::all_reduce:
  case plan::CollectiveKind::all_reduce_max:
    allReduce(exchange, member, self.mover, counter);
    break;
  case plan::CollectiveKind::all_gather:
    allGather(exchange, member, self.mover, counter);
    break;
  case plan::CollectiveKind::reduce_scatter:
    reduceScatter(exchange, member, self.mover, counter);
    break;
  case plan::CollectiveKind::all_to_all:
    allToAll(exchange, member, self.mover, counter);
    break;
  }
  member.group->barrier.wait(stop);
}

void Collectives::allGather(const Exchange &exchange, Membership member, Mover &mover, MovedBytes &moved) {
  uint64_t ranks = member.group->size(), bytes = exchange.chunk * bytesOf(exchange.element);
  for (uint64_t peer = 0; peer < ranks; ++peer) {
    mover.copy({member.group->src[peer],
                exchange.dst + peer * bytes,
                bytes,
                exchange.outer,
                1,
                {.outer = bytes},
                {.outer = ranks * bytes}});
    if (peer != member.index)
      moved.allGather += exchange.outer * bytes;
  }
}

/// Of every peer, the chunks for this rank: they lie among the peer's others as this rank's own lie among what it gets.
void Collectives::allToAll(const Exchange &exchange, Membership member, Mover &mover, MovedBytes &moved) {
  uint64_t ranks = member.group->size(), rows = exchange.rows, bytes = exchange.chunk * bytesOf(exchange.element);
  auto begin = [&](bool ranksFirst, uint64_t rank) { return rank * (ranksFirst ? rows : 1) * bytes; };
  auto steps = [&](bool ranksFirst) { return Copy::Steps{ranks * rows * bytes, (ranksFirst ? 1 : ranks) * bytes}; };
  for (uint64_t peer = 0; peer < ranks; ++peer) {
    mover.copy({member.group->src[peer] + begin(exchange.ranksFirst, member.index),
                exchange.dst + begin(!exchange.ranksFirst, peer), bytes, exchange.outer, rows,
                steps(exchange.ranksFirst), steps(!exchange.ranksFirst)});
    if (peer != member.index)
      moved.allToAll += exchange.outer * rows * bytes;
  }
}

void Collectives::reduceScatter(const Exchange &exchange, Membership member, Mover &mover, MovedBytes &moved) {
  uint64_t ranks = member.group->size(), chunk = exchange.chunk;
  mover.combine({Combine::Sum, exchange.element, member.group->src, member.index * chunk, ranks * chunk, chunk,
                 exchange.outer, exchange.dst, exchange.accumulate, exchange.wire});
  moved.reduceScatter += (ranks - 1) * exchange.outer * chunk * bytesOf(exchange.wire);
}

void Collectives::allReduce(const Exchange &exchange, Membership member, Mover &mover, MovedBytes &moved) {
  uint64_t ranks = member.group->size(), count = exchange.outer * exchange.chunk, size = bytesOf(exchange.element);
  uint64_t each = (count + ranks - 1) / ranks;
  each = (each + sliceGrain - 1) / sliceGrain * sliceGrain;
  auto first = [&](uint64_t index) { return std::min(count, index * each); };
  uint64_t own = first(member.index), length = first(member.index + 1) - own;
  Combine how = exchange.kind == plan::CollectiveKind::all_reduce_max ? Combine::Largest : Combine::Sum;
  uint64_t crossing = bytesOf(exchange.wire);
  mover.combine(
      {how, exchange.element, member.group->src, own, 0, length, 1, exchange.dst + own * size, false, exchange.wire});
  moved.allReduce += (ranks - 1) * length * crossing;
  member.group->barrier.wait(stop);
  for (uint64_t peer = 0; peer < ranks; ++peer) {
    if (peer == member.index)
      continue;
    uint64_t begin = first(peer) * size, bytes = first(peer + 1) * size - begin;
    mover.copy({member.group->dst[peer] + begin, exchange.dst + begin, bytes});
    moved.allReduce += bytes / size * crossing;
  }
}

} // namespace xlc::runtime
