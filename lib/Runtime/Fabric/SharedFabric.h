// The fabric of ranks that can access each other's memory: threads of one process, or processes of one host.
#ifndef XLC_LIB_RUNTIME_FABRIC_SHAREDFABRIC_H
#define XLC_LIB_RUNTIME_FABRIC_SHAREDFABRIC_H

#include "Collectives.h"
#include "Transfers.h"

namespace xlc::runtime {

class SharedFabric final : public Fabric {
public:
  /// `spins`: as for waitWhile. Memory must be provided before ranks begin.
  SharedFabric(const Plan &plan, int spins, Commons &commons)
      : commons(commons), collectives(plan, spins, commons), transfers(plan, spins, commons), waiter(commons, spins),
        everybody(commons.reserve<Barrier>()), ranks(rankCount(plan)) {}

  void exchange(const Exchange &exchange, const Participant &self) override { collectives.run(exchange, self); }
  void send(const Message &message, const char *from, const Participant &self) override {
    transfers.send(message, from, self);
  }
  void receive(const Message &message, char *to, const Participant &self) override {
    transfers.receive(message, to, self);
  }
  void meet(Pulse *pulse) override { waiter.wait(commons.at(everybody), ranks, pulse); }

private:
  const Commons &commons;
  Collectives collectives;
  Transfers transfers;
  const Waiter waiter;
  const Piece<Barrier> everybody;
  const uint64_t ranks;
};

} // namespace xlc::runtime

#endif
