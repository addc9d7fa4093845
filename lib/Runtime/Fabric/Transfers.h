// Messages between the threads of one process: a rendezvous, as between two ranks of NCCL without a buffer.
//
//   sender    show where the value is | ........................ | go on
//   receiver  ....................... | copy it | say it is taken | go on
//
// Between two ranks messages have one order, so each direction needs one place to meet. The number of the message is
// compared there: two lists that have come out of step end the job instead of mixing up values.
#ifndef XLC_LIB_RUNTIME_FABRIC_TRANSFERS_H
#define XLC_LIB_RUNTIME_FABRIC_TRANSFERS_H

#include "Barrier.h"
#include "Fabric.h"
#include "Plan/Ranks.h"

#include <map>

namespace xlc::runtime {

/// Shared by all ranks of a job.
class Transfers {
public:
  Transfers(const Plan &plan, int spins, const StopSignal &stop);

  /// Returns when the rank of equal dp and tp on the peer stage has copied from `from`.
  void send(const Message &message, const char *from, int rank);
  /// Copies to `to` what the peer sends.
  void receive(const Message &message, char *to, const Participant &self);

private:
  /// From one rank to another.
  struct Rendezvous {
    const char *from = nullptr;
    uint64_t message = 0;
    alignas(64) std::atomic<uint32_t> shown{0};
    alignas(64) std::atomic<uint32_t> taken{0};
  };
  /// The rank like `rank` on another stage.
  int peerOf(int rank, uint32_t stage) const { return (int)(stage * perStage + (uint32_t)rank % perStage); }

  const uint32_t perStage;
  const int spins;
  const StopSignal &stop;
  std::map<std::pair<int, int>, Rendezvous> pairs; ///< by sender and receiver; made at start
};

} // namespace xlc::runtime

#endif
