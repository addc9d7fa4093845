// See Arenas.h.
#include "Arenas.h"

#include "Plan/Ranks.h"
#include "xlc/Runtime/Limits.h"

namespace xlc::runtime {
namespace {

std::vector<uint64_t> placeArenas(const Plan &plan, bool isOnHost, uint64_t begin) {
  std::vector<uint64_t> offsets;
  auto place = [&](uint64_t bytes) {
    begin = (begin + kHugePage - 1) / kHugePage * kHugePage;
    offsets.push_back(begin);
    begin += bytes;
  };
  for (uint32_t rank = 0; rank < rankCount(plan); ++rank)
    place(isOnHost ? trainingProgramOf(plan, (int)rank).arena : 0);
  place(0);
  return offsets;
}

} // namespace

Arenas::Arenas(const Plan &plan, const Commons &commons, bool isOnHost)
    : plan(plan), commons(commons), isOnHost(isOnHost), offsets(placeArenas(plan, isOnHost, commons.size())) {}

DeviceMemory Arenas::allocate(int rank, Device &device) const {
  uint64_t bytes = trainingProgramOf(plan, rank).arena;
  return areShared() ? device.allocateAt({file, offsets[(size_t)rank], of(rank)}, bytes) : device.allocate(bytes);
}

} // namespace xlc::runtime
