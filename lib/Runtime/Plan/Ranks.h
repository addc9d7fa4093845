// Numbering of ranks: the programs of a rank, and the members of its groups.
//
//   rank = (pp index * dp + dp index) * tp + tp index;   a stage is the dp x tp ranks of one pp index
#ifndef XLC_LIB_RUNTIME_PLAN_RANKS_H
#define XLC_LIB_RUNTIME_PLAN_RANKS_H

#include "Plan.h"

#include <vector>

namespace xlc::runtime {

inline uint32_t stageRanks(const Plan &plan) { return plan.mesh->dp() * plan.mesh->tp(); }
inline uint32_t rankCount(const Plan &plan) { return plan.mesh->pp() * stageRanks(plan); }
/// The pp index of a rank.
inline uint32_t stageOf(const Plan &plan, int rank) { return (uint32_t)rank / stageRanks(plan); }

/// The program of a stage for a purpose; null if the plan has none.
inline const plan::ProgramT *findProgram(const Plan &plan, plan::Purpose purpose, uint32_t stage) {
  auto isIt = [&](const auto &each) { return each->purpose == purpose && each->stage == stage; };
  auto found = std::find_if(plan.programs.begin(), plan.programs.end(), isIt);
  return found == plan.programs.end() ? nullptr : found->get();
}
/// The program of a rank's stage; the plan must have programs for the purpose.
inline const plan::ProgramT &programOf(const Plan &plan, plan::Purpose purpose, int rank) {
  return *findProgram(plan, purpose, stageOf(plan, rank));
}
/// The training program. Every plan has one, and all other programs of the rank have the same arena and states.
inline const plan::ProgramT &trainingProgramOf(const Plan &plan, int rank) {
  return programOf(plan, plan::Purpose::train, rank);
}
/// Calls visit(program) for the programs of a stage, of all purposes.
template <class Visit> void forEachProgram(const Plan &plan, uint32_t stage, Visit visit) {
  for (const auto &program : plan.programs)
    if (program->stage == stage)
      visit(*program);
}
/// The slice of a bucket that a rank keeps, if it keeps a shard.
inline uint32_t shardOf(const Plan &plan, int rank) {
  return (uint32_t)rank / plan.mesh->tp() % plan.mesh->dp() % plan.mesh->shards();
}

/// The number of elements of a bucket that a rank keeps.
inline uint64_t keptElements(const plan::BucketT &bucket, plan::Extent extent) {
  return extent == plan::Extent::Whole ? bucket.elements : bucket.shard_elements;
}

/// The number of ranks of a group.
uint64_t groupSize(const plan::RankGroupT &group);

/// Whether ranks of this stage are members of a group.
bool takesPart(const plan::RankGroupT &group, uint32_t stage);

/// The index of a rank in its group.
uint64_t indexIn(const plan::RankGroupT &group, const Plan &plan, int rank);

/// The ranks of a rank's group, by index.
std::vector<int> membersOf(const plan::RankGroupT &group, const Plan &plan, int rank);

} // namespace xlc::runtime

#endif
