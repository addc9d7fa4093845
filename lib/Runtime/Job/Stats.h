// What the program used, beside what the plan said: --stats, and the check at the end of every run.
#ifndef XLC_LIB_RUNTIME_JOB_STATS_H
#define XLC_LIB_RUNTIME_JOB_STATS_H

#include "World.h"

namespace xlc::runtime {

struct UsedResources {
  uint64_t steps = 0;                  ///< completed
  uint64_t allocatedBytes = 0;         ///< arenas of all ranks, counted where they were mapped
  std::vector<uint64_t> residualSlots; ///< most at once, by rank
  MovedByAxis moved;                   ///< by all ranks, counted where they read
  uint64_t peakResidentBytes = 0;      ///< of all processes; what several see counts for each
  uint64_t bytesAhead = 0;             ///< of rows that are read ahead, of the rank that has most
  uint64_t rowSum = 0;                 ///< of all rows, see Data/RowSum.h
  std::vector<Restored> restored;      ///< by rank, from the checkpoint that the run goes on from
  std::vector<OutsideBytes> outside;   ///< of rank 0's device; none where that is not measured

  /// Of the next rank.
  void add(const RankReport &rank);
};

/// Peak resident bytes of this process, from the kernel.
uint64_t readPeakResident();

/// Says in one line what differs from the plan, or nothing.
std::string findDisagreement(const Plan &plan, const UsedResources &used);

/// Writes planned and used figures as JSON; throws Rejected where `path` cannot be written.
void writeStats(const std::string &path, const Plan &plan, const UsedResources &used);

} // namespace xlc::runtime

#endif
