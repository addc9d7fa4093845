// Collectives between ranks that can access each other's memory: threads of one process, or processes of one host.
//
//   enter: publish the address of my memory | read the others' memory, write mine | leave
//
// A rank reads its peers' arenas and writes its own. In an all_reduce it also writes its summed slice to its peers.
// Bytes that a rank receives from others are counted, whichever rank moves them. Sums run over the group in the order
// of the index, element by element, so an all_reduce and a reduce_scatter give the same bits. Since every rank
// publishes its address, members of one group may run different programs (pipeline stages).
#ifndef XLC_LIB_RUNTIME_FABRIC_COLLECTIVES_H
#define XLC_LIB_RUNTIME_FABRIC_COLLECTIVES_H

#include "Fabric.h"
#include "Plan/Ranks.h"
#include "Waiter.h"

namespace xlc::runtime {

/// The collectives of all ranks of a process.
class Collectives {
public:
  Collectives(const Plan &plan, int spins, Commons &commons);

  /// Called by every rank of the group.
  void run(const Exchange &exchange, const Participant &self);

private:
  /// The data that a rank publishes to its group: the address of its memory, in the common numbering.
  struct Seat {
    uint64_t src, dst;
  };
  /// A group in shared memory. Seats are in the order of the index.
  struct Group {
    uint64_t size;
    Piece<Seat> seats;
    Piece<Barrier> barrier;
  };
  /// A rank's group, and its index in the group; none if it is not a member.
  struct Membership {
    const Group *group = nullptr;
    uint64_t index = 0;
    std::vector<const char *> sources; ///< the summands, by index
    std::vector<char *> copies;        ///< the addresses of this rank's slice at the other ranks of an all_reduce
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
  /// By group of the plan, then by rank. Each stream has groups of its own, because streams do not wait for each other.
  std::array<std::vector<std::vector<Membership>>, (size_t)plan::Stream::MAX + 1> memberships;
};

} // namespace xlc::runtime

#endif
