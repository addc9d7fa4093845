// See Ranks.h.
#include "Ranks.h"

#include <algorithm>

namespace xlc::runtime {

uint64_t groupSize(const plan::RankGroupT &group) {
  uint64_t size = std::max<uint64_t>(1, group.stages.size());
  for (size_t i = 0; i < group.digits.size(); i += 2)
    size *= group.digits[i];
  return size;
}

bool takesPart(const plan::RankGroupT &group, uint32_t stage) {
  return group.stages.empty() || std::find(group.stages.begin(), group.stages.end(), stage) != group.stages.end();
}

uint64_t indexIn(const plan::RankGroupT &group, const Plan &plan, int rank) {
  uint32_t stage = (uint32_t)rank / stageRanks(plan), inStage = (uint32_t)rank % stageRanks(plan);
  uint64_t index = group.stages.empty()
                       ? 0
                       : (uint64_t)(std::find(group.stages.begin(), group.stages.end(), stage) - group.stages.begin());
  for (size_t i = 0; i < group.digits.size(); i += 2)
    index = index * group.digits[i] + inStage / group.digits[i + 1] % group.digits[i];
  return index;
}

std::vector<int> membersOf(const plan::RankGroupT &group, const Plan &plan, int rank) {
  uint32_t first = (uint32_t)rank % stageRanks(plan);
  std::vector<uint32_t> within{0}, stages = group.stages;
  for (size_t i = 0; i < group.digits.size(); i += 2) {
    uint32_t count = group.digits[i], stride = group.digits[i + 1];
    first -= first / stride % count * stride;
    std::vector<uint32_t> more;
    for (uint32_t base : within)
      for (uint32_t digit = 0; digit < count; ++digit)
        more.push_back(base + digit * stride);
    within = std::move(more);
  }
  if (stages.empty())
    stages.push_back((uint32_t)rank / stageRanks(plan));
  std::vector<int> members;
  for (uint32_t stage : stages)
    for (uint32_t offset : within)
      members.push_back((int)(stage * stageRanks(plan) + first + offset));
  return members;
}

} // namespace xlc::runtime
