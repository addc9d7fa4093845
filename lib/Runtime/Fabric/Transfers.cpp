// See Transfers.h. `shown` counts the sender's messages, `taken` the receiver's: if they are equal, no message is in
// flight.
#include "Transfers.h"

namespace xlc::runtime {

Transfers::Transfers(const Plan &plan, int spins, Commons &commons)
    : perStage(stageRanks(plan)), commons(commons), waiter(commons, spins) {
  for (const auto &program : plan.programs)
    for (const auto &step : program->steps)
      if (const plan::SendT *send = step->action.AsSend())
        for (uint32_t i = 0; i < perStage; ++i)
          pairs.try_emplace({(int)(program->stage * perStage + i), (int)(send->peer * perStage + i)});
  for (auto &[ranks, pair] : pairs)
    pair = commons.reserve<Rendezvous>();
}

void Transfers::send(const Message &message, const char *from, const Participant &self) {
  Rendezvous &rendezvous = commons.at(pairs.at({self.rank, peerOf(self.rank, message.peer)}));
  uint32_t before = rendezvous.taken.load(std::memory_order_acquire);
  rendezvous.from = commons.numberOf(from), rendezvous.message = message.number;
  rendezvous.shown.store(before + 1, std::memory_order_release);
  waiter.wake(rendezvous.shown);
  waiter.waitWhile(rendezvous.taken, before, self.pulse);
}

void Transfers::receive(const Message &message, char *to, const Participant &self) {
  Rendezvous &rendezvous = commons.at(pairs.at({peerOf(self.rank, message.peer), self.rank}));
  uint32_t before = rendezvous.taken.load(std::memory_order_relaxed);
  waiter.waitWhile(rendezvous.shown, before, self.pulse);
  if (rendezvous.message != message.number)
    throw std::runtime_error(wrongMessage(rendezvous.message, message.number));
  self.mover.copy({commons.addressOf(rendezvous.from), to, message.bytes});
  self.moved[plan::Axis::pp].transfer += message.bytes;
  rendezvous.taken.store(before + 1, std::memory_order_release);
  waiter.wake(rendezvous.taken);
}

} // namespace xlc::runtime
