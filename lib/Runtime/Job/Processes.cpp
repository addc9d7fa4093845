// See Processes.h. Ranks that have not ended two seconds after a failure are killed with `children`: a stopped process
// does not react.
#include "Processes.h"

#include "Files/StandardStreams.h"
#include "Launch/Children.h"
#include "Launched.h"

#include <fmt/format.h>

namespace xlc::runtime {
namespace {

constexpr auto childrenTick = std::chrono::milliseconds(50);
constexpr int64_t mostNanosecondsToEnd = 2'000'000'000;

} // namespace

Exit runAsProcesses(const World &world, Crew &crew, const std::atomic<int> &signal,
                    const std::function<void(int rank)> &prepare) {
  StopSignal &stop = world.stop();
  Board &board = world.board();
  Children children((int)rankCount(world.plan), [&](int rank, Peers line) {
    HostCompany others(world, std::move(line));
    raise(stop, [&] { prepare(rank); });
    return (int)(stop.isRaised() ? stop.code() : crew.run({rank, 1}, others));
  });
  std::optional<int64_t> failed; // when
  while (children.isAnyLeft()) {
    Request::raise(world.request().signal, (uint64_t)signal.load(std::memory_order_relaxed));
    std::optional<Children::Ended> ended = children.wait(childrenTick);
    if (ended && board.exit == 0 && world.reportOf(ended->rank).hasEnded == 0)
      stop.raise(Exit::RankFailed,
                 fmt::format("error: {}: {}", world.whereabouts.describeRank(ended->rank), ended->how));
    if (!stop.isRaised())
      continue;
    failed = failed.value_or(now());
    if (now() - *failed > mostNanosecondsToEnd)
      break;
  }
  sayFailure(stop);
  return stop.isRaised() ? stop.code() : (Exit)(board.exit - 1);
}

} // namespace xlc::runtime
