// Collectives between the ranks of one process, with NCCL's contract: in place where the pieces are, done for a
// rank when the whole group is done.
//
// A rank reads its peers' arenas and writes only its own; the bytes it reads are counted as it reads them. Sums
// run over the group in rank order, element by element, so an all_reduce and a reduce_scatter give the same bits.
#ifndef XLC_LIB_RUNTIME_CORE_COLLECTIVES_H
#define XLC_LIB_RUNTIME_CORE_COLLECTIVES_H

#include "Barrier.h"
#include "Plan.h"
#include "Team.h"

#include <vector>

namespace xlc::runtime {

/// Bytes read from other ranks' arenas.
struct MovedBytes {
  uint64_t allGather = 0, reduceScatter = 0, allReduce = 0;
  void operator+=(const MovedBytes &other) {
    allGather += other.allGather, reduceScatter += other.reduceScatter, allReduce += other.allReduce;
  }
};

/// Shared by all ranks of a job.
class Collectives {
public:
  /// `arenas` is filled by the ranks before they meet for the first time.
  Collectives(uint32_t ranks, uint32_t shards, int spins, const StopSignal &stop);

  std::vector<char *> arenas;

  /// All ranks of the job meet.
  void meet() { groups[0]->barrier.wait(stop); }

  // Each is called by every rank of the group, with the rank's own team and counter.
  void run(const plan::AllGatherT &gather, int rank, Team &team, MovedBytes &moved);
  void run(const plan::ReduceScatterT &scatter, int rank, Team &team, MovedBytes &moved);
  void run(const plan::AllReduceT &reduce, int rank, Team &team, MovedBytes &moved);

private:
  struct Group {
    std::vector<int> ranks; ///< ascending
    Barrier barrier;
    Group(std::vector<int> ranks, int spins) : ranks(std::move(ranks)), barrier((int)this->ranks.size(), spins) {}
    int indexOf(int rank) const;
  };
  Group &groupOf(plan::Group group, int rank);
  char *at(const plan::Place &place, int rank) const { return arenas[rank] + offsetOf(place, rank, shards); }
  uint64_t sum(const Group &group, const plan::Place &src, uint64_t skip, uint64_t count, plan::Element element,
               char *to, bool add, int rank, Team &team) const;

  const uint32_t ranks, shards;
  const StopSignal &stop;
  std::vector<std::unique_ptr<Group>> groups; ///< all; then one per `shards` group; then one per `replicas` group
};

} // namespace xlc::runtime

#endif
