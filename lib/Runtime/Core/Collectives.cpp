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

template <class T> void addBlock(T *to, const T *from, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    to[i] += from[i];
}

/// to[i] (+)= sources[0][i] + sources[1][i] + ..., in that order. `to` may be one of the sources.
template <class T>
void sumSources(const std::vector<const char *> &sources, uint64_t begin, uint64_t end, char *to, bool add) {
  T block[sumBlock];
  for (uint64_t i = begin; i < end; i += sumBlock) {
    uint64_t count = std::min(sumBlock, end - i);
    std::memcpy(block, (const T *)sources[0] + i, count * sizeof(T));
    for (size_t s = 1; s < sources.size(); ++s)
      addBlock(block, (const T *)sources[s] + i, count);
    if (add)
      addBlock((T *)to + i, block, count);
    else
      std::memcpy((T *)to + i, block, count * sizeof(T));
  }
}

void sumElements(plan::Element element, const std::vector<const char *> &sources, uint64_t begin, uint64_t end,
                 char *to, bool add) {
  switch (element) {
  case plan::Element::F32:
    return sumSources<float>(sources, begin, end, to, add);
  case plan::Element::F64:
    return sumSources<double>(sources, begin, end, to, add);
  case plan::Element::I64:
    return sumSources<int64_t>(sources, begin, end, to, add);
  case plan::Element::I32:
    return sumSources<int32_t>(sources, begin, end, to, add);
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

void copyShared(Team &team, const char *from, char *to, uint64_t bytes) {
  share(team, bytes, 1, [&](uint64_t begin, uint64_t end) { std::memcpy(to + begin, from + begin, end - begin); });
}

} // namespace

Collectives::Collectives(uint32_t ranks, uint32_t shards, int spins, const StopSignal &stop)
    : arenas(ranks), ranks(ranks), shards(shards), stop(stop) {
  auto add = [&](uint32_t begin, uint32_t step, uint32_t count) {
    std::vector<int> members;
    for (uint32_t i = 0; i < count; ++i)
      members.push_back((int)(begin + i * step));
    groups.push_back(std::make_unique<Group>(std::move(members), spins));
  };
  add(0, 1, ranks);
  for (uint32_t replica = 0; replica < ranks / shards; ++replica)
    add(replica * shards, 1, shards);
  for (uint32_t shard = 0; shard < shards; ++shard)
    add(shard, shards, ranks / shards);
}

int Collectives::Group::indexOf(int rank) const {
  return (int)(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

Collectives::Group &Collectives::groupOf(plan::Group group, int rank) {
  switch (group) {
  case plan::Group::All:
    break;
  case plan::Group::Shards:
    return *groups[1 + rank / shards];
  case plan::Group::Replicas:
    return *groups[1 + ranks / shards + rank % shards];
  }
  return *groups[0];
}

/// Sums elements [skip, skip + count) of every rank's src; returns the bytes read from others.
uint64_t Collectives::sum(const Group &group, const plan::Place &src, uint64_t skip, uint64_t count,
                          plan::Element element, char *to, bool add, int rank, Team &team) const {
  std::vector<const char *> sources;
  uint64_t peers = 0;
  for (int peer : group.ranks) {
    sources.push_back(at(src, peer) + skip * bytesOf(element));
    peers += peer != rank;
  }
  share(team, count, bytesOf(element),
        [&](uint64_t begin, uint64_t end) { sumElements(element, sources, begin, end, to, add); });
  return peers * count * bytesOf(element);
}

void Collectives::run(const plan::AllGatherT &gather, int rank, Team &team, MovedBytes &moved) {
  Group &group = groupOf(gather.group, rank);
  uint64_t bytes = gather.count * bytesOf(gather.element);
  char *to = at(*gather.dst, rank);
  group.barrier.wait(stop);
  for (int peer : group.ranks) {
    const char *from = at(*gather.src, peer);
    if (from != to)
      copyShared(team, from, to, bytes);
    if (peer != rank)
      moved.allGather += bytes;
    to += bytes;
  }
  group.barrier.wait(stop);
}

void Collectives::run(const plan::ReduceScatterT &scatter, int rank, Team &team, MovedBytes &moved) {
  Group &group = groupOf(scatter.group, rank);
  uint64_t skip = (uint64_t)group.indexOf(rank) * scatter.count;
  group.barrier.wait(stop);
  moved.reduceScatter += sum(group, *scatter.src, skip, scatter.count, scatter.element, at(*scatter.dst, rank),
                             scatter.accumulate, rank, team);
  group.barrier.wait(stop);
}

void Collectives::run(const plan::AllReduceT &reduce, int rank, Team &team, MovedBytes &moved) {
  Group &group = groupOf(reduce.group, rank);
  uint64_t members = group.ranks.size(), each = (reduce.count + members - 1) / members, size = bytesOf(reduce.element);
  each = (each + sliceGrain - 1) / sliceGrain * sliceGrain;
  auto begin = [&](uint64_t index) { return std::min(reduce.count, index * each); };
  uint64_t own = (uint64_t)group.indexOf(rank);
  char *mine = at(*reduce.place, rank);
  group.barrier.wait(stop);
  moved.allReduce += sum(group, *reduce.place, begin(own), begin(own + 1) - begin(own), reduce.element,
                         mine + begin(own) * size, false, rank, team);
  group.barrier.wait(stop);
  for (uint64_t i = 0; i < members; ++i) {
    if (i == own)
      continue;
    uint64_t bytes = (begin(i + 1) - begin(i)) * size;
    copyShared(team, at(*reduce.place, group.ranks[i]) + begin(i) * size, mine + begin(i) * size, bytes);
    moved.allReduce += bytes;
  }
  group.barrier.wait(stop);
}

} // namespace xlc::runtime
