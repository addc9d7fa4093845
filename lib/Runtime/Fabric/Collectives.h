// Collectives between ranks whose memory is in reach of each other: threads of one process, or processes of one host.
//
//   enter: say where my memory is | read the others' memory, write mine | leave
//
// A rank reads its peers' arenas and writes its own; in an all_reduce it writes the slice that it sums to its peers too. What a rank
// gets of others is counted, whoever moves it. Sums
// run over the group in the order of the index, element by element, so an all_reduce and a reduce_scatter give the same
// bits. Since every rank says where its memory is, members of one group may run different programs (pipeline stages).
#ifndef XLC_LIB_RUNTIME_FABRIC_COLLECTIVES_H
#define XLC_LIB_RUNTIME_FABRIC_COLLECTIVES_H

#include "Fabric.h"
#include "Plan/Ranks.h"
#include "Waiter.h"

namespace xlc::runtime {

/// Of all ranks of a process.
class Collectives {
public:
  Collectives(const Plan &plan, int spins, Commons &commons);

  /// Called by every rank of the group.
  void run(const Exchange &exchange, const Participant &self);

private:
  /// What a rank shows to the others of its group: where its memory is, as all number it.
  struct Seat {
    uint64_t src, dst;
  };
  /// In memory that all see. Seats are by index.
  struct Group {
    uint64_t size;
    Piece<Seat> seats;
    Piece<Barrier> barrier;
  };
  /// A rank's group, and its index there; none where it takes no part.
  struct Membership {
    const Group *group = nullptr;
    uint64_t index = 0;
    std::vector<const char *> sources; ///< what is summed, by index
    std::vector<char *> copies;        ///< where the others of an all_reduce have the slice of this one
  };
  void allReduce(const Exchange &exchange, Membership &member, const Participant &self);
  void allGather(const Exchange &exchange, const Membership &member, const Participant &self);
  void allToAll(const Exchange &exchange, const Membership &member, const Participant &self);
  void reduceScatter(const Exchange &exchange, Membership &member, const Participant &self);
  void meet(const Group &group, const Participant &self) const;
  MovedBytes &counterOf(const Exchange &exchange, const Participant &self) const {
    return self.moved[axes[exchange.group]];
  }
  const char *sourceOf(const Group &group, uint64_t index) const {
    return commons.addressOf(commons.at(group.seats, index).src);
  }
  std::span<const char *const> findSources(Membership &member) const;

  const Commons &commons;
  const Waiter waiter;
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<plan::Axis> axes; ///< by group of the plan
  /// By group of the plan, then by rank. Streams do not wait for each other, so each has groups of its own.
  std::array<std::vector<std::vector<Membership>>, (size_t)plan::Stream::MAX + 1> memberships;
};

} // namespace xlc::runtime

#endif
