// See Company.h.
#include "Company.h"

#include "Files/StandardStreams.h"

#include <fmt/format.h>

#include <cstring>

namespace xlc::runtime {

void sayFailure(StopSignal &stop) {
  if (!stop.isRaised() || !stop.claimText())
    return;
  clearBar();
  say(stop.text());
}

void HostCompany::lookAfter() {
  auto isMissed = [&](int rank) {
    return rank == Peers::starter ? world.board().exit == 0 : world.reportOf(rank).hasEnded == 0;
  };
  std::optional<int> gone = lines.findGone(isMissed);
  if (gone == Peers::starter)
    world.stop().raise(Exit::RankFailed, "error: the process that started the ranks has gone");
  else if (gone)
    world.stop().raise(Exit::RankFailed, fmt::format("error: {}: its process has gone", world.describeRank(*gone)));
}

void HostCompany::readArena(int rank, uint64_t offset, uint64_t bytes, void *to) {
  std::memcpy(to, world.arenaOf(rank) + offset, bytes);
}

void HostCompany::end(Exit exit) { world.board().exit.store(1 + (uint32_t)exit, std::memory_order_release); }

Exit HostCompany::awaitEnd(const char *) {
  uint32_t exit = 0;
  for (; (exit = world.board().exit.load(std::memory_order_acquire)) == 0; lookAfter()) {
    world.stop().throwIfRaised();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return (Exit)(exit - 1);
}

} // namespace xlc::runtime
