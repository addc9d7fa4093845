// Numbers of ranks: which program a rank runs, and who forms a group with it.
//
//   rank = (pp index * dp + dp index) * tp + tp index;   a stage is the dp x tp ranks of one pp index
#ifndef XLC_LIB_RUNTIME_PLAN_RANKS_H
#define XLC_LIB_RUNTIME_PLAN_RANKS_H

#include "Plan.h"

#include <vector>

namespace xlc::runtime {

inline uint32_t stageRanks(const Plan &plan) { return plan.mesh->dp() * plan.mesh->tp(); }
inline uint32_t rankCount(const Plan &plan) { return plan.mesh->pp() * stageRanks(plan); }
inline const plan::ProgramT &programOf(const Plan &plan, int rank) {
  return *plan.programs[(uint32_t)rank / stageRanks(plan)];
}
/// Which slice of a bucket a rank keeps, where it keeps a shard.
inline uint32_t shardOf(const Plan &plan, int rank) {
  return (uint32_t)rank / plan.mesh->tp() % plan.mesh->dp() % plan.mesh->shards();
}

/// Elements of a bucket that a rank keeps.
inline uint64_t keptElements(const plan::BucketT &bucket, plan::Extent extent) {
  return extent == plan::Extent::Whole ? bucket.elements : bucket.shard_elements;
}

/// How many ranks a group has.
uint64_t groupSize(const plan::RankGroupT &group);

/// Whether ranks of this stage take part in a group.
bool takesPart(const plan::RankGroupT &group, uint32_t stage);

/// The index of a rank in its group.
uint64_t indexIn(const plan::RankGroupT &group, const Plan &plan, int rank);

/// The ranks of a rank's group, by index.
std::vector<int> membersOf(const plan::RankGroupT &group, const Plan &plan, int rank);

} // namespace xlc::runtime

#endif
