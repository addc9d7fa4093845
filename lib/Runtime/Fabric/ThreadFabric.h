// The fabric of ranks that are threads of one process, with their memory in reach of each other.
#ifndef XLC_LIB_RUNTIME_FABRIC_THREADFABRIC_H
#define XLC_LIB_RUNTIME_FABRIC_THREADFABRIC_H

#include "Collectives.h"
#include "Transfers.h"

namespace xlc::runtime {

class ThreadFabric final : public Fabric {
public:
  /// `spins`: as for a Barrier.
  ThreadFabric(const Plan &plan, int spins, const StopSignal &stop)
      : stop(stop), collectives(plan, spins, stop), transfers(plan, spins, stop),
        everybody((int)rankCount(plan), spins) {}

  void exchange(const Exchange &exchange, const Participant &self) override { collectives.run(exchange, self); }
  void send(const Message &message, const char *from, const Participant &self) override {
    transfers.send(message, from, self.rank);
  }
  void receive(const Message &message, char *to, const Participant &self) override {
    transfers.receive(message, to, self);
  }
  void meet() override { everybody.wait(stop); }

private:
  const StopSignal &stop;
  Collectives collectives;
  Transfers transfers;
  Barrier everybody;
};

} // namespace xlc::runtime

#endif
