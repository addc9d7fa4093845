// Compares the resources that the program used with those of the plan: --stats, and the check at the end of every run.
#ifndef XLC_LIB_RUNTIME_JOB_STATS_H
#define XLC_LIB_RUNTIME_JOB_STATS_H

#include "World.h"

namespace xlc::runtime {

struct UsedResources {
  uint64_t steps = 0;                  ///< completed
  uint64_t allocatedBytes = 0;         ///< the arenas of all ranks, counted when they were mapped
  std::vector<uint64_t> residualSlots; ///< the peak, by rank
  MovedByAxis moved;                   ///< by all ranks, counted by the readers
  uint64_t peakResidentBytes = 0;      ///< of all processes; shared memory is counted for each
  uint64_t bytesAhead = 0;             ///< of rows that are read ahead, for the rank with the most
  uint64_t rowSum = 0;                 ///< of all rows, see Data/RowSum.h
  std::vector<Restored> restored;      ///< by rank, from the checkpoint from which the run is resumed
  std::vector<OutsideBytes> outside;   ///< of rank 0's device; empty if not measured

  /// Adds the report of the next rank.
  void add(const RankReport &rank);
};

/// Peak resident bytes of this process, from the kernel.
uint64_t readPeakResident();

/// Returns a line with the differences from the plan, or nothing.
std::string findDisagreement(const Plan &plan, const UsedResources &used);

/// Writes planned and used figures as JSON. Throws Rejected if `path` cannot be written.
void writeStats(const std::string &path, const Plan &plan, const UsedResources &used);

} // namespace xlc::runtime

#endif
