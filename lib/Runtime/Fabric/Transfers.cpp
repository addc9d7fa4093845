// See Transfers.h. `shown` counts the sender's messages, `taken` the receiver's: equal means nothing is under way.
#include "Transfers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace xlc::runtime {

constexpr uint64_t smallestCopy = 64 << 10; // bytes; less is not worth waking a thread for

Transfers::Transfers(const Plan &plan, int spins, const StopSignal &stop)
    : perStage(stageRanks(plan)), spins(spins), stop(stop) {
  for (uint32_t stage = 0; stage < plan.programs.size(); ++stage)
    for (const auto &step : plan.programs[stage]->steps)
      if (const plan::SendT *send = step->action.AsSend())
        for (uint32_t i = 0; i < perStage; ++i)
          meetings[{(int)(stage * perStage + i), (int)(send->peer * perStage + i)}];
}

void Transfers::run(const plan::SendT &send, int rank, const char *from) {
  Meeting &meeting = meetings.at({rank, peerOf(rank, send.peer)});
  uint32_t before = meeting.taken.load(std::memory_order_acquire);
  meeting.from = from, meeting.message = send.message;
  meeting.shown.store(before + 1, std::memory_order_release);
  wakeAll(meeting.shown);
  waitWhile(meeting.taken, before, spins, stop);
}

void Transfers::run(const plan::ReceiveT &receive, int rank, char *to, Team &team, MovedByAxis &moved) {
  Meeting &meeting = meetings.at({peerOf(rank, receive.peer), rank});
  uint32_t before = meeting.taken.load(std::memory_order_relaxed);
  waitWhile(meeting.shown, before, spins, stop);
  if (meeting.message != receive.message)
    throw std::runtime_error(fmt::format("message {} came where message {} was due", meeting.message, receive.message));
  uint64_t parts = std::clamp<uint64_t>(receive.bytes / smallestCopy, 1, (uint64_t)team.size());
  uint64_t each = (receive.bytes + parts - 1) / parts;
  team.run((int)parts, [&](int part) {
    uint64_t begin = std::min(receive.bytes, part * each), end = std::min(receive.bytes, begin + each);
    std::memcpy(to + begin, meeting.from + begin, end - begin);
  });
  moved[plan::Axis::Pp].transfer += receive.bytes;
  meeting.taken.store(before + 1, std::memory_order_release);
  wakeAll(meeting.taken);
}

} // namespace xlc::runtime
