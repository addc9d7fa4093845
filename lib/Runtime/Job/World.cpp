// See World.h. In a file that processes share arenas lie behind the commons, each on huge pages of its own: who touches a
// page first decides on which memory of the host it lies.
//
//     | commons | arena of rank 0 | arena of rank 1 | ...
#include "World.h"

#include <fmt/format.h>

#include <numeric>

namespace xlc::runtime {
namespace {

constexpr uint64_t mostTraceEvents = 4'000'000; // per rank
constexpr uint64_t hugePage = 2 << 20;
constexpr int64_t mostSilence = 1'000'000'000; // nanoseconds, of a process that tells where it is

/// Events of a step of the rank that has the most of them.
uint64_t countEvents(const Plan &plan) {
  uint64_t most = 0;
  for (const auto &program : plan.programs) {
    uint64_t events = 0;
    for (const auto &step : program->steps) {
      const plan::RunT *run = step->action.AsRun();
      events += 1 + (run ? plan.functions[run->function]->calls.size() : 0);
    }
    most = std::max(most, events);
  }
  return most;
}

std::vector<uint64_t> placeArenas(const Plan &plan, bool isOnHost, uint64_t begin) {
  std::vector<uint64_t> offsets;
  auto place = [&](uint64_t bytes) {
    begin = (begin + hugePage - 1) / hugePage * hugePage;
    offsets.push_back(begin);
    begin += bytes;
  };
  for (uint32_t rank = 0; rank < rankCount(plan); ++rank)
    place(isOnHost ? programOf(plan, (int)rank).arena : 0);
  place(0);
  return offsets;
}

} // namespace

World::World(const Plan &plan, const Target &target, uint64_t traceSteps, Wire *wire)
    : plan(plan), spins(spinsFor((int)((wire ? wire->ranksOfHost() : rankCount(plan)) * plan.threads))),
      waiter(commons, spins), wire(wire), fabric(target.makeFabric({plan, spins, commons, wire})),
      eventsPerRank(std::min(countEvents(plan) * std::min(traceSteps, mostTraceEvents), mostTraceEvents)),
      isOnHost(target.isHost), boardPlace(commons.reserve<Board>()),
      inquiryPlace(commons.reserve<Inquiry>(isOnHost ? 0 : 1)), reports(commons.reserve<RankReport>(rankCount(plan))),
      pulsePlace(commons.reserve<Pulse>(rankCount(plan) * pulsesPerRank)),
      heard(commons.reserve<std::atomic<int64_t>>(wire ? rankCount(plan) : 0)),
      eventCounts(commons.reserve<std::atomic<uint64_t>>(rankCount(plan))),
      events(commons.reserve<TraceEvent>(rankCount(plan) * eventsPerRank)),
      arenaOffsets(placeArenas(plan, isOnHost, commons.size())) {}

RankTrace World::traceOf(int rank) const {
  return {&commons.at(events, rank * eventsPerRank), eventsPerRank, commons.at(eventCounts, rank)};
}

DeviceMemory World::allocateArena(int rank, Device &device) const {
  uint64_t bytes = programOf(plan, rank).arena;
  return areArenasShared() ? device.allocateAt({file, arenaOffsets[rank], arenaOf(rank)}, bytes)
                           : device.allocate(bytes);
}

void World::publish(const StepResult &result) const {
  board().result = result;
  board().shown.store((uint32_t)result.step, std::memory_order_release);
  waiter.wake(board().shown);
}

void World::collect(int rank, const std::function<void(void *place, uint64_t bytes)> &read) const {
  read(&reportOf(rank), sizeof(RankReport));
  if (!isTraced())
    return;
  std::atomic<uint64_t> &count = commons.at(eventCounts, (uint64_t)rank);
  read(&count, sizeof count);
  if (uint64_t kept = std::min<uint64_t>(count, eventsPerRank))
    read(&commons.at(events, (uint64_t)rank * eventsPerRank), kept * sizeof(TraceEvent));
}

bool World::isSilent(int rank) const { return wire && rank != wire->rank() && now() - lastHeard(rank) > mostSilence; }

bool World::isWaiting(int rank, const Pulse &pulse) const {
  if (wire && rank != wire->rank())
    return true;
  const auto &word = *(const std::atomic<uint32_t> *)commons.addressOf(pulse.word.load(std::memory_order_relaxed));
  return word.load(std::memory_order_acquire) == pulse.value.load(std::memory_order_relaxed);
}

std::string World::describePulse(int rank, const Pulse &pulse) const {
  if (pulse.step == 0)
    return fmt::format("rank {}, before the first step", rank);
  return describe(plan, {rank, pulse.step, pulse.action, pulse.call});
}

} // namespace xlc::runtime
