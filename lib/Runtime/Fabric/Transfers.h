// Messages between ranks whose memory is in reach of each other: a rendezvous, as between two ranks of NCCL without a buffer.
//
//   sender    show where the value is | ........................ | go on
//   receiver  ....................... | copy it | say it is taken | go on
//
// Between two ranks messages have one order, so each direction needs one place to meet. The number of the message is
// compared there: two lists that have come out of step end the job instead of mixing up values.
#ifndef XLC_LIB_RUNTIME_FABRIC_TRANSFERS_H
#define XLC_LIB_RUNTIME_FABRIC_TRANSFERS_H

#include "Fabric.h"
#include "Plan/Ranks.h"
#include "Waiter.h"

#include <map>

namespace xlc::runtime {

/// Of all ranks of a process.
class Transfers {
public:
  Transfers(const Plan &plan, int spins, Commons &commons);

  /// Returns when the rank of equal dp and tp on the peer stage has copied from `from`.
  void send(const Message &message, const char *from, const Participant &self);
  /// Copies to `to` what the peer sends.
  void receive(const Message &message, char *to, const Participant &self);

private:
  /// From one rank to another, in memory that all see; `from` as all number it.
  struct Rendezvous {
    uint64_t from = 0, message = 0;
    alignas(64) std::atomic<uint32_t> shown{0};
    alignas(64) std::atomic<uint32_t> taken{0};
  };
  /// The rank like `rank` on another stage.
  int peerOf(int rank, uint32_t stage) const { return (int)(stage * perStage + (uint32_t)rank % perStage); }

  const uint32_t perStage;
  const Commons &commons;
  const Waiter waiter;
  std::map<std::pair<int, int>, Piece<Rendezvous>> pairs; ///< by sender and receiver; made at start
};

} // namespace xlc::runtime

#endif
