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

bool Watchdog::hasBegun() const {
  for (uint64_t i = 0; i < rankCount(world.plan) * pulsesPerRank; ++i)
    if (world.pulses()[i].step > 0)
      return true;
  return false;
}

/// After the last step files are written; who shows results may wait for a reader.
bool Watchdog::isExcused() const {
  bool isActive = false;
  for (uint64_t i = 0; i < rankCount(world.plan) * pulsesPerRank; ++i) {
    const Pulse &pulse = world.pulses()[i];
    if (pulse.state == Pulse::Speaks)
      return true;
    isActive |= pulse.state == Pulse::Works || pulse.state == Pulse::WaitsForRanks;
  }
  return !isActive;
}

/// Ranks read files then. Of several watchers one notes that it takes long.
void Watchdog::lookBeforeSteps(double passed) {
  uint64_t now = countBeats();
  idle = now == beats ? idle + passed : 0;
  beats = now;
  if (isNoted || seconds <= 0 || idle <= seconds)
    return;
  std::string late = describeLate();
  isNoted = !late.empty();
  if (isNoted && world.claimNote())
    note = late;
}

std::string Watchdog::look(int64_t time) {
  double passed = std::min((double)(time - last) * 1e-9, mostSecondsPerLook);
  last = time;
  if (!hasBegun()) {
    lookBeforeSteps(passed);
    return "";
  }
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

/// Whom others wait for, or of whom nothing is heard; or nothing.
std::string Watchdog::describeLate() const {
  std::vector<std::string> silent, late;
  bool isAnyWaiting = false;
  for (int rank = 0; rank < (int)rankCount(world.plan); ++rank) {
    const Pulse &pulse = world.pulses()[(uint64_t)rank * pulsesPerRank];
    bool waits = pulse.state == Pulse::WaitsForRanks && world.whereabouts.isWaiting(rank, pulse);
    isAnyWaiting |= waits;
    if (world.whereabouts.isSilent(rank))
      silent.push_back(fmt::format("rank {}", rank));
    else if (!waits)
      late.push_back(fmt::format("rank {}", rank));
  }
  const std::vector<std::string> &named = silent.empty() && isAnyWaiting ? late : silent;
  if (named.empty())
    return "";
  bool isOne = named.size() == 1;
  return fmt::format(
      "note: {} did not start the first step within {:.3g} s, and other ranks wait for {}: {}; --timeout "
      "applies from the first step on",
      list(named), idle, isOne ? "it" : "them",
      isOne ? "it is reading files, suspended, or hanging" : "they are reading files, suspended, or hanging");
}

std::string Watchdog::describe() const {
  std::vector<std::string> hanging, waiting;
  for (int rank = 0; rank < (int)rankCount(world.plan); ++rank) {
    if (world.whereabouts.isSilent(rank)) {
      hanging.push_back(world.whereabouts.describeRank(rank));
      continue;
    }
    for (uint64_t stream = 0; stream < pulsesPerRank; ++stream) {
      const Pulse &pulse = world.pulses()[(uint64_t)rank * pulsesPerRank + stream];
      if (pulse.state == Pulse::Works ||
          (pulse.state == Pulse::WaitsForRanks && !world.whereabouts.isWaiting(rank, pulse)))
        hanging.push_back(world.whereabouts.describePulse(rank, pulse));
      else if (pulse.state == Pulse::WaitsForRanks)
        waiting.push_back(world.whereabouts.describePulse(rank, pulse));
    }
  }
  std::string since = fmt::format("no progress for {:.3g} s", quiet);
  if (hanging.empty())
    return fmt::format("error: {}, and all ranks wait for each other: {}", since, list(waiting));
  std::string others = waiting.empty() ? "" : fmt::format("; waiting: {}", list(waiting));
  return fmt::format("error: {}: {}{}", list(hanging), since, others);
}

} // namespace xlc::runtime
