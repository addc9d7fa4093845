// See Collectives.h. all_reduce is a reduce_scatter of slices followed by an all_gather of them:
//
//   enter | rank i: slice i of its own arena = sum of slice i of all | meet | copy the others' slices | leave
//
// Rank i is the only one that reads slice i before the middle meeting, so it may write it in place.
#include "Collectives.h"

#include <algorithm>
#include <cstring>

namespace xlc::runtime {
namespace {

constexpr uint64_t sliceGrain = 16;          // elements; slices begin on cache lines
constexpr uint64_t smallestShare = 64 << 10; // bytes; less is not worth waking a thread for
constexpr uint64_t sumBlock = 2048;          // elements summed at once, in L1

struct Sum {
  template <class T> static T combine(T a, T b) { return a + b; }
};
/// What is not a number stays.
struct Largest {
  template <class T> static T combine(T a, T b) { return a > b || a != a ? a : b; }
};

template <class How, class T> void combineBlock(T *to, const T *from, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    to[i] = How::combine(to[i], from[i]);
}

/// to[i] = sources[0][from + i] combined with sources[1][from + i], ..., in that order; `add` adds that to to[i]. `to`
/// may be one of the sources.
template <class How, class T, class Seats>
void combineRange(const Seats &sources, uint64_t from, uint64_t count, T *to, bool add) {
  T block[sumBlock];
  for (uint64_t i = 0; i < count; i += sumBlock) {
    uint64_t some = std::min(sumBlock, count - i);
    std::memcpy(block, (const T *)sources[0].src + from + i, some * sizeof(T));
    for (size_t s = 1; s < sources.size(); ++s)
      combineBlock<How>(block, (const T *)sources[s].src + from + i, some);
    if (add)
      combineBlock<Sum>(to + i, block, some);
    else
      std::memcpy(to + i, block, some * sizeof(T));
  }
}

template <class How, class Seats>
void combineElements(plan::Element element, const Seats &sources, uint64_t from, uint64_t count, char *to, bool add) {
  switch (element) {
  case plan::Element::F32:
    return combineRange<How>(sources, from, count, (float *)to, add);
  case plan::Element::F64:
    return combineRange<How>(sources, from, count, (double *)to, add);
  case plan::Element::I64:
    return combineRange<How>(sources, from, count, (int64_t *)to, add);
  case plan::Element::I32:
    return combineRange<How>(sources, from, count, (int32_t *)to, add);
  case plan::Element::I1:
    throw std::invalid_argument("a sum of truth values is not defined");
  }
}

/// Calls work(begin, end) for ranges of [0, count) on the team's threads.
template <class Work> void share(Team &team, uint64_t count, uint64_t elementBytes, Work work) {
  uint64_t parts = std::clamp<uint64_t>(count * elementBytes / smallestShare, 1, (uint64_t)team.size());
  uint64_t each = (count / parts + sliceGrain) / sliceGrain * sliceGrain;
  team.run((int)parts, [&](int part) {
    uint64_t begin = std::min(count, part * each);
    work(begin, std::min(count, begin + each));
  });
}

/// The same for [0, outer * chunk), cut at multiples of `chunk`: work(o, begin, end) within run o.
template <class Work> void shareRuns(Team &team, uint64_t outer, uint64_t chunk, uint64_t elementBytes, Work work) {
  share(team, outer * chunk, elementBytes, [&](uint64_t begin, uint64_t end) {
    while (begin < end) {
      uint64_t o = begin / chunk, from = begin % chunk, count = std::min(chunk - from, end - begin);
      work(o, from, from + count);
      begin += count;
    }
  });
}

void copyShared(Team &team, const char *from, char *to, uint64_t bytes) {
  share(team, bytes, 1, [&](uint64_t begin, uint64_t end) { std::memcpy(to + begin, from + begin, end - begin); });
}

} // namespace

Collectives::Collectives(const Plan &plan, int spins, const StopSignal &stop)
    : arenas(rankCount(plan)), stop(stop), everybody((int)rankCount(plan), spins) {
  for (const auto &group : plan.rank_groups) {
    axes.push_back(group->axis);
    std::vector<Membership> &members = memberships.emplace_back(rankCount(plan));
    for (int rank = 0; rank < (int)rankCount(plan); ++rank) {
      if (members[rank].group || !takesPart(*group, (uint32_t)rank / stageRanks(plan)))
        continue;
      std::vector<int> all = membersOf(*group, plan, rank);
      Group *made = groups.emplace_back(std::make_unique<Group>(all.size(), spins)).get();
      for (size_t index = 0; index < all.size(); ++index)
        members[all[index]] = {made, index};
    }
  }
}

void Collectives::run(const Exchange &exchange, int rank, Team &team, MovedByAxis &moved) {
  Membership member = memberships[exchange.group][rank];
  MovedBytes &counter = moved[axes[exchange.group]];
  member.group->seats[member.index] = {exchange.src, exchange.dst};
  member.group->barrier.wait(stop);
  switch (exchange.kind) {
  case plan::Collective::AllReduce:
  case plan::Collective::AllReduceMax:
    allReduce(exchange, member, team, counter);
    break;
  case plan::Collective::AllGather:
    allGather(exchange, member, team, counter);
    break;
  case plan::Collective::ReduceScatter:
    reduceScatter(exchange, member, team, counter);
    break;
  case plan::Collective::AllToAll:
    allToAll(exchange, member, team, counter);
    break;
  }
  member.group->barrier.wait(stop);
}

void Collectives::allGather(const Exchange &exchange, Membership member, Team &team, MovedBytes &moved) {
  const std::vector<Seat> &seats = member.group->seats;
  uint64_t size = bytesOf(exchange.element), bytes = exchange.chunk * size;
  for (uint64_t peer = 0; peer < seats.size(); ++peer) {
    shareRuns(team, exchange.outer, bytes, 1, [&](uint64_t o, uint64_t begin, uint64_t end) {
      const char *from = seats[peer].src + o * bytes + begin;
      char *to = exchange.dst + (o * seats.size() + peer) * bytes + begin;
      if (from != to)
        std::memcpy(to, from, end - begin);
    });
    if (peer != member.index)
      moved.allGather += exchange.outer * bytes;
  }
}

/// Of every peer, the chunks for this rank: they lie among the peer's others as this rank's own lie among what it gets.
void Collectives::allToAll(const Exchange &exchange, Membership member, Team &team, MovedBytes &moved) {
  const std::vector<Seat> &seats = member.group->seats;
  uint64_t ranks = seats.size(), rows = exchange.rows, bytes = exchange.chunk * bytesOf(exchange.element);
  auto place = [&](bool ranksFirst, uint64_t o, uint64_t row, uint64_t rank) {
    return (o * ranks * rows + (ranksFirst ? rank * rows + row : row * ranks + rank)) * bytes;
  };
  for (uint64_t peer = 0; peer < ranks; ++peer) {
    shareRuns(team, exchange.outer * rows, bytes, 1, [&](uint64_t run, uint64_t begin, uint64_t end) {
      uint64_t o = run / rows, row = run % rows;
      std::memcpy(exchange.dst + place(!exchange.ranksFirst, o, row, peer) + begin,
                  seats[peer].src + place(exchange.ranksFirst, o, row, member.index) + begin, end - begin);
    });
    if (peer != member.index)
      moved.allToAll += exchange.outer * rows * bytes;
  }
}

void Collectives::reduceScatter(const Exchange &exchange, Membership member, Team &team, MovedBytes &moved) {
  const std::vector<Seat> &seats = member.group->seats;
  uint64_t size = bytesOf(exchange.element), chunk = exchange.chunk;
  shareRuns(team, exchange.outer, chunk, size, [&](uint64_t o, uint64_t begin, uint64_t end) {
    combineElements<Sum>(exchange.element, seats, (o * seats.size() + member.index) * chunk + begin, end - begin,
                         exchange.dst + (o * chunk + begin) * size, exchange.accumulate);
  });
  moved.reduceScatter += (seats.size() - 1) * exchange.outer * chunk * size;
}

void Collectives::allReduce(const Exchange &exchange, Membership member, Team &team, MovedBytes &moved) {
  const std::vector<Seat> &seats = member.group->seats;
  uint64_t count = exchange.outer * exchange.chunk, size = bytesOf(exchange.element);
  uint64_t each = (count + seats.size() - 1) / seats.size();
  each = (each + sliceGrain - 1) / sliceGrain * sliceGrain;
  auto first = [&](uint64_t index) { return std::min(count, index * each); };
  uint64_t own = first(member.index), length = first(member.index + 1) - own;
  share(team, length, size, [&](uint64_t begin, uint64_t end) {
    char *to = exchange.dst + (own + begin) * size;
    if (exchange.kind == plan::Collective::AllReduceMax)
      combineElements<Largest>(exchange.element, seats, own + begin, end - begin, to, false);
    else
      combineElements<Sum>(exchange.element, seats, own + begin, end - begin, to, false);
  });
  moved.allReduce += (seats.size() - 1) * length * size;
  member.group->barrier.wait(stop);
  for (uint64_t peer = 0; peer < seats.size(); ++peer) {
    if (peer == member.index)
      continue;
    uint64_t begin = first(peer) * size, bytes = first(peer + 1) * size - begin;
    copyShared(team, seats[peer].dst + begin, exchange.dst + begin, bytes);
    moved.allReduce += bytes;
  }
}

} // namespace xlc::runtime
