// Collectives between the threads of one process.
//
//   enter: say where my memory is | read the others' memory, write mine | leave
//
// A rank reads its peers' arenas and writes only its own; the bytes it reads are counted as it reads them. Sums
// run over the group in the order of the index, element by element, so an all_reduce and a reduce_scatter give the same
// bits. Since every rank says where its memory is, members of one group may run different programs (pipeline stages).
#ifndef XLC_LIB_RUNTIME_FABRIC_COLLECTIVES_H
#define XLC_LIB_RUNTIME_FABRIC_COLLECTIVES_H

#include "Barrier.h"
#include "Fabric.h"
#include "Plan/Ranks.h"

namespace xlc::runtime {

/// Shared by all ranks of a job.
class Collectives {
public:
  Collectives(const Plan &plan, int spins, const StopSignal &stop);

  /// Called by every rank of the group.
  void run(const Exchange &exchange, const Participant &self);

private:
  /// What ranks show to the others of their group, by index.
  struct Group {
    std::vector<const char *> src, dst;
    Barrier barrier;
    Group(size_t ranks, int spins) : src(ranks), dst(ranks), barrier((int)ranks, spins) {}
    uint64_t size() const { return src.size(); }
  };
  /// A rank's group, and its index there; none where it takes no part.
  struct Membership {
    Group *group = nullptr;
    uint64_t index = 0;
  };
  void allReduce(const Exchange &exchange, Membership member, Mover &mover, MovedBytes &moved);
  void allGather(const Exchange &exchange, Membership member, Mover &mover, MovedBytes &moved);
  void allToAll(const Exchange &exchange, Membership member, Mover &mover, MovedBytes &moved);
  void reduceScatter(const Exchange &exchange, Membership member, Mover &mover, MovedBytes &moved);

  const StopSignal &stop;
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<plan::Axis> axes; ///< by group of the plan
  /// By group of the plan, then by rank. Streams do not wait for each other, so each has groups of its own.
  std::array<std::vector<std::vector<Membership>>, (size_t)plan::Stream::MAX + 1> memberships;
};

} // namespace xlc::runtime

#endif
