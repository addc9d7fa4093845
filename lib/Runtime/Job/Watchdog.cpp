// See Watchdog.h.
#include "Watchdog.h"

#include <fmt/format.h>

namespace xlc::runtime {
namespace {

constexpr double mostSecondsPerLook = 0.2; // more passed while this process did not run
constexpr size_t mostShown = 4;

std::string list(const std::vector<std::string> &places) {
  auto shown = places.begin() + (ptrdiff_t)std::min(places.size(), mostShown);
  std::string text = fmt::format("{}", fmt::join(places.begin(), shown, "; "));
  return shown == places.end() ? text : text + fmt::format("; and {} more", places.end() - shown);
}

} // namespace

uint64_t Watchdog::countBeats() const {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < rankCount(world.plan) * pulsesPerRank; ++i)
    sum += world.pulses()[i].beats.load(std::memory_order_acquire);
  return sum;
}

/// A GPU's host is a step ahead: what it waits for in the second is the first.
bool Watchdog::isFirstStep() const {
  uint64_t last = 0;
  for (uint64_t i = 0; i < rankCount(world.plan) * pulsesPerRank; ++i)
    last = std::max<uint64_t>(last, world.pulses()[i].step);
  return last <= (world.plan.gpu.empty() ? 1 : 2);
}

/// Before the first step ranks read files, after the last one they are written; who shows results may wait for a reader.
bool Watchdog::isExcused() const {
  bool hasBegun = false, isActive = false;
  for (uint64_t i = 0; i < rankCount(world.plan) * pulsesPerRank; ++i) {
    const Pulse &pulse = world.pulses()[i];
    if (pulse.state == Pulse::Speaks)
      return true;
    hasBegun |= pulse.step > 0;
    isActive |= pulse.state == Pulse::Works || pulse.state == Pulse::WaitsForRanks;
  }
  return !hasBegun || !isActive;
}

std::string Watchdog::look(int64_t time) {
  double passed = std::min((double)(time - last) * 1e-9, mostSecondsPerLook);
  last = time;
  if (isExcused()) {
    quiet = 0;
    return "";
  }
  if (uint64_t now = countBeats(); now != beats) {
    longest = std::max(longest, quiet);
    beats = now, quiet = 0;
    return "";
  }
  quiet += passed;
  double limit = seconds * (isFirstStep() ? 10 : 1);
  if (seconds > 0 && quiet > std::max(limit, 20 * longest))
    return describe();
  return "";
}

std::string Watchdog::describe() const {
  std::vector<std::string> hanging, waiting;
  for (int rank = 0; rank < (int)rankCount(world.plan); ++rank) {
    if (world.isSilent(rank)) {
      hanging.push_back(world.describeRank(rank));
      continue;
    }
    for (uint64_t stream = 0; stream < pulsesPerRank; ++stream) {
      const Pulse &pulse = world.pulses()[(uint64_t)rank * pulsesPerRank + stream];
      if (pulse.state == Pulse::Works || (pulse.state == Pulse::WaitsForRanks && !world.isWaiting(rank, pulse)))
        hanging.push_back(world.describePulse(rank, pulse));
      else if (pulse.state == Pulse::WaitsForRanks)
        waiting.push_back(world.describePulse(rank, pulse));
    }
  }
  std::string since = fmt::format("nothing has happened for {:.3g} s", quiet);
  if (hanging.empty())
    return fmt::format("error: {}, and all wait for each other: {}", since, list(waiting));
  std::string others = waiting.empty() ? "" : fmt::format("; who waits: {}", list(waiting));
  return fmt::format("error: {}: {}{}", list(hanging), since, others);
}

} // namespace xlc::runtime
