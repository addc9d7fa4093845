// See Whereabouts.h.
#include "Whereabouts.h"

#include "Device/Position.h"
#include "Device/Trace.h"

#include <fmt/format.h>

namespace xlc::runtime {

constexpr int64_t mostSilence = 1'000'000'000; // nanoseconds, of a process that tells where it is

Whereabouts::Whereabouts(const Plan &plan, Commons &commons, const Wire *wire)
    : plan(plan), commons(commons), wire(wire), pulsePlace(commons.reserve<Pulse>(rankCount(plan) * pulsesPerRank)),
      heard(commons.reserve<std::atomic<int64_t>>(wire ? rankCount(plan) : 0)) {}

bool Whereabouts::isSilent(int rank) const {
  return wire && rank != wire->rank() && now() - lastHeard(rank) > mostSilence;
}

bool Whereabouts::isWaiting(int rank, const Pulse &pulse) const {
  if (wire && rank != wire->rank())
    return true;
  const auto &word = *(const std::atomic<uint32_t> *)commons.addressOf(pulse.word.load(std::memory_order_relaxed));
  return word.load(std::memory_order_acquire) == pulse.value.load(std::memory_order_relaxed);
}

std::string Whereabouts::describePulse(int rank, const Pulse &pulse) const {
  if (pulse.step == 0)
    return fmt::format("rank {}, before the first step", rank);
  return describe(plan, {rank, pulse.step, pulse.action, pulse.call, (plan::Purpose)pulse.purpose.load()});
}

} // namespace xlc::runtime
