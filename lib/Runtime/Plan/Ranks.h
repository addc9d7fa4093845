// Numbers of ranks: which programs a rank runs, and who forms a group with it.
//
//   rank = (pp index * dp + dp index) * tp + tp index;   a stage is the dp x tp ranks of one pp index
#ifndef XLC_LIB_RUNTIME_PLAN_RANKS_H
#define XLC_LIB_RUNTIME_PLAN_RANKS_H

#include "Plan.h"

#include <vector>

namespace xlc::runtime {

inline uint32_t stageRanks(const Plan &plan) { return plan.mesh->dp() * plan.mesh->tp(); }
inline uint32_t rankCount(const Plan &plan) { return plan.mesh->pp() * stageRanks(plan); }
/// The pp index on which a rank lies.
inline uint32_t stageOf(const Plan &plan, int rank) { return (uint32_t)rank / stageRanks(plan); }

/// The program of a stage for a purpose; null: the plan has none for it.
inline const plan::ProgramT *findProgram(const Plan &plan, plan::Purpose purpose, uint32_t stage) {
  auto isIt = [&](const auto &each) { return each->purpose == purpose && each->stage == stage; };
  auto found = std::find_if(plan.programs.begin(), plan.programs.end(), isIt);
  return found == plan.programs.end() ? nullptr : found->get();
}
/// That of a rank's stage; of a plan that has programs for it.
inline const plan::ProgramT &programOf(const Plan &plan, plan::Purpose purpose, int rank) {
  return *findProgram(plan, purpose, stageOf(plan, rank));
}
/// That which trains. Every plan has one, and whatever else the rank runs has the same arena and states.
inline const plan::ProgramT &trainingProgramOf(const Plan &plan, int rank) {
  return programOf(plan, plan::Purpose::train, rank);
}
/// Calls visit(program) for the programs of a stage, of all purposes.
template <class Visit> void forEachProgram(const Plan &plan, uint32_t stage, Visit visit) {
  for (const auto &program : plan.programs)
    if (program->stage == stage)
      visit(*program);
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
