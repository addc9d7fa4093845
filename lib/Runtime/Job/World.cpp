// See World.h.
#include "World.h"

#include "Embedded.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <numeric>

namespace xlc::runtime {
namespace {

constexpr uint64_t mostTraceEvents = 4'000'000; // per rank

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

} // namespace

World::World(const Plan &plan, const Target &target, Reserved reserved, Wire *wire)
    : plan(plan), spins(spinsFor((int)((wire ? wire->ranksOfHost() : rankCount(plan)) * plan.threads))),
      waiter(commons, spins), wire(wire), fabric(target.makeFabric({plan, spins, commons, wire})),
      eventsPerRank(std::min(countEvents(plan) * std::min(reserved.traceSteps, mostTraceEvents), mostTraceEvents)),
      boardPlace(commons.reserve<Board>()), inquiryPlace(commons.reserve<Inquiry>(target.isHost ? 0 : 1)),
      reports(commons.reserve<RankReport>(rankCount(plan))),
      norms(commons.reserve<ParameterNorm>(reserved.norms ? rankCount(plan) * plan.parameters.size() : 0)),
      eventCounts(commons.reserve<std::atomic<uint64_t>>(rankCount(plan))),
      events(commons.reserve<TraceEvent>(rankCount(plan) * eventsPerRank)), whereabouts(plan, commons, wire),
      arenas(plan, commons, target.isHost) {}

RankTrace World::traceOf(int rank) const {
  return {&commons.at(events, rank * eventsPerRank), eventsPerRank, commons.at(eventCounts, rank)};
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

void World::adoptSignal(std::atomic<int> &signal) const {
  uint64_t asked = request().signal;
  if (asked != 0 && std::ranges::find(stoppingSignals, asked) == std::end(stoppingSignals))
    asked = SIGTERM; // of another process, which gets no other signals so
  int none = 0;
  signal.compare_exchange_strong(none, (int)asked);
}

} // namespace xlc::runtime
