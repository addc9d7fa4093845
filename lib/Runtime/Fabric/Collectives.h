// Collectives between the ranks of one process, with NCCL's contract: in place where the pieces are, done for a
// rank when the whole group is done.
//
//   enter: say where my memory is | read the others' memory, write mine | leave
//
// A rank reads its peers' arenas and writes only its own; the bytes it reads are counted as it reads them. Sums
// run over the group in the order of the index, element by element, so an all_reduce and a reduce_scatter give the same
// bits. Since every rank says where its memory is, members of one group may run different programs (pipeline stages).
#ifndef XLC_LIB_RUNTIME_FABRIC_COLLECTIVES_H
#define XLC_LIB_RUNTIME_FABRIC_COLLECTIVES_H

#include "Barrier.h"
#include "Cpu/Team.h"
#include "MovedBytes.h"
#include "Plan/Ranks.h"

namespace xlc::runtime {

/// One rank's part in a collective, with geometry as in Plan.fbs' Exchange.
struct Exchange {
  plan::Collective kind;
  uint32_t group; ///< of the plan
  uint64_t outer, chunk;
  plan::Element element;
  const char *src;
  char *dst;
  bool accumulate = false; ///< of a reduce_scatter: adds to dst
  uint64_t rows = 1;       ///< of an all_to_all
  bool ranksFirst = false; ///< of an all_to_all: in src, chunks for different ranks lie `rows` chunks apart
};

/// Shared by all ranks of a job.
class Collectives {
public:
  /// `arenas` is filled by the ranks before they meet for the first time.
  Collectives(const Plan &plan, int spins, const StopSignal &stop);

  std::vector<char *> arenas;

  /// All ranks of the job meet.
  void meet() { everybody.wait(stop); }

  /// Called by every rank of the group, with the rank's own team and counter.
  void run(const Exchange &exchange, int rank, Team &team, MovedByAxis &moved);

private:
  /// What a rank shows to the others of its group.
  struct Seat {
    const char *src;
    char *dst;
  };
  struct Group {
    std::vector<Seat> seats; ///< by index
    Barrier barrier;
    Group(size_t ranks, int spins) : seats(ranks), barrier((int)ranks, spins) {}
  };
  /// A rank's group, and its index there; none where it takes no part.
  struct Membership {
    Group *group = nullptr;
    uint64_t index = 0;
  };
  void allReduce(const Exchange &exchange, Membership member, Team &team, MovedBytes &moved);
  void allGather(const Exchange &exchange, Membership member, Team &team, MovedBytes &moved);
  void allToAll(const Exchange &exchange, Membership member, Team &team, MovedBytes &moved);
  void reduceScatter(const Exchange &exchange, Membership member, Team &team, MovedBytes &moved);

  const StopSignal &stop;
  Barrier everybody;
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<plan::Axis> axes;                     ///< by group of the plan
  std::vector<std::vector<Membership>> memberships; ///< by group of the plan, then by rank
};

} // namespace xlc::runtime

#endif
