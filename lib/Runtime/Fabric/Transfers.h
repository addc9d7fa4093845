// Messages between ranks that can access each other's memory. A message is a rendezvous, as between two ranks of NCCL
// without a buffer.
//
//   sender    publish its address        | ....... | return
//   receiver  .......................... | copy it | confirm it | return
//
// Messages between two ranks are ordered, so each direction requires one meeting point. It compares the number of the
// message: two lists that are out of step end the job instead of mixing up values.
#ifndef XLC_LIB_RUNTIME_FABRIC_TRANSFERS_H
#define XLC_LIB_RUNTIME_FABRIC_TRANSFERS_H

#include "Fabric.h"
#include "Plan/Ranks.h"
#include "Waiter.h"

#include <map>

namespace xlc::runtime {

/// The transfers of all ranks of a process.
class Transfers {
public:
  Transfers(const Plan &plan, int spins, Commons &commons);

  /// Returns when the rank of equal dp and tp on the peer stage has copied from `from`.
  void send(const Message &message, const char *from, const Participant &self);
  /// Copies the peer's message to `to`.
  void receive(const Message &message, char *to, const Participant &self);

private:
  /// A meeting point from one rank to another, in memory shared by all ranks; `from` is in the common numbering.
  struct Rendezvous {
    uint64_t from = 0, message = 0;
    alignas(64) std::atomic<uint32_t> shown{0};
    alignas(64) std::atomic<uint32_t> taken{0};
  };
  /// The rank with the dp and tp of `rank` on another stage.
  int peerOf(int rank, uint32_t stage) const { return (int)(stage * perStage + (uint32_t)rank % perStage); }

  const uint32_t perStage;
  const Commons &commons;
  const Waiter waiter;
  std::map<std::pair<int, int>, Piece<Rendezvous>> pairs; ///< created at start
};

} // namespace xlc::runtime

#endif
