// See Company.h.
#include "Company.h"

#include "Files/StandardStreams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace xlc::runtime {

constexpr auto moment = std::chrono::milliseconds(1);

void sayFailure(StopSignal &stop) {
  if (!stop.isRaised() || !stop.claimText())
    return;
  sayAboveBar(stop.text());
}

void HostCompany::lookAfter() {
  auto isMissed = [&](int rank) {
    return rank == Peers::starter ? world.board().exit == 0 : world.reportOf(rank).hasEnded == 0;
  };
  std::optional<int> gone = lines.findGone(isMissed);
  if (gone == Peers::starter)
    world.stop().raise(Exit::RankFailed, "error: the process that started the ranks has ended");
  else if (gone)
    world.stop().raise(Exit::RankFailed,
                       fmt::format("error: {}: its process has ended", world.whereabouts.describeRank(*gone)));
}

void HostCompany::readArena(int rank, uint64_t offset, uint64_t bytes, void *to) {
  if (world.arenas.areShared())
    return std::memcpy(to, world.arenas.of(rank) + offset, bytes), void();
  Inquiry &inquiry = world.inquiry();
  for (uint64_t done = 0; done < bytes;) {
    uint64_t some = std::min(bytes - done, Inquiry::most);
    inquiry.rank = rank, inquiry.offset = offset + done, inquiry.bytes = some;
    uint32_t number = ++inquiry.asked;
    for (; inquiry.answered.load(std::memory_order_acquire) != number; lookAfter()) {
      world.stop().throwIfRaised();
      std::this_thread::sleep_for(moment);
    }
    std::memcpy((char *)to + done, inquiry.answer, some);
    done += some;
  }
}

void HostCompany::answer(const Left &left) {
  Inquiry &inquiry = world.inquiry();
  uint32_t asked = inquiry.asked.load(std::memory_order_acquire);
  if (asked == inquiry.answered || inquiry.rank != left.rank)
    return;
  left.device.read(inquiry.answer, left.arena + inquiry.offset, inquiry.bytes);
  inquiry.answered.store(asked, std::memory_order_release);
}

void HostCompany::end(Exit exit) { world.board().exit.store(1 + (uint32_t)exit, std::memory_order_release); }

Exit HostCompany::awaitEnd(const Left &left) {
  uint32_t exit = 0;
  for (; (exit = world.board().exit.load(std::memory_order_acquire)) == 0; lookAfter()) {
    world.stop().throwIfRaised();
    if (!world.arenas.areShared())
      answer(left);
    std::this_thread::sleep_for(moment);
  }
  return (Exit)(exit - 1);
}

} // namespace xlc::runtime
