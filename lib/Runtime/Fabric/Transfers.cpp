// See Transfers.h. `shown` counts the sender's messages, `taken` the receiver's: equal means nothing is under way.
#include "Transfers.h"

#include <fmt/format.h>

namespace xlc::runtime {

Transfers::Transfers(const Plan &plan, int spins, const StopSignal &stop)
    : perStage(stageRanks(plan)), spins(spins), stop(stop) {
  for (uint32_t stage = 0; stage < plan.programs.size(); ++stage)
    for (const auto &step : plan.programs[stage]->steps)
      if (const plan::SendT *send = step->action.AsSend())
        for (uint32_t i = 0; i < perStage; ++i)
          pairs[{(int)(stage * perStage + i), (int)(send->peer * perStage + i)}];
}

void Transfers::send(const Message &message, const char *from, int rank) {
  Rendezvous &rendezvous = pairs.at({rank, peerOf(rank, message.peer)});
  uint32_t before = rendezvous.taken.load(std::memory_order_acquire);
  rendezvous.from = from, rendezvous.message = message.number;
  rendezvous.shown.store(before + 1, std::memory_order_release);
  wakeAll(rendezvous.shown);
  waitWhile(rendezvous.taken, before, spins, stop);
}

void Transfers::receive(const Message &message, char *to, const Participant &self) {
  Rendezvous &rendezvous = pairs.at({peerOf(self.rank, message.peer), self.rank});
  uint32_t before = rendezvous.taken.load(std::memory_order_relaxed);
  waitWhile(rendezvous.shown, before, spins, stop);
  if (rendezvous.message != message.number)
    throw std::runtime_error(
        fmt::format("message {} came where message {} was due", rendezvous.message, message.number));
  self.mover.copy({rendezvous.from, to, message.bytes});
  self.moved[plan::Axis::pp].transfer += message.bytes;
  rendezvous.taken.store(before + 1, std::memory_order_release);
  wakeAll(rendezvous.taken);
}

} // namespace xlc::runtime
