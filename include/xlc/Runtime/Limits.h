// Limits that hold for specs and for programs: the same numbers, so that a program never rejects the plan it was made
// for.
#ifndef XLC_RUNTIME_LIMITS_H
#define XLC_RUNTIME_LIMITS_H

#include <cstdint>

namespace xlc::runtime {

/// Ranks of one program. A plan may have more.
inline constexpr int64_t kMostRanks = 4096;

/// Threads of one rank.
inline constexpr int64_t kMostThreads = 1024;

/// Bytes of a huge page of the CPU.
inline constexpr uint64_t kHugePage = 2 << 20;

/// Consecutive steps skipped because gradients overflow. A run that exceeds this makes no progress and ends.
inline constexpr uint64_t kMostSkippedInRow = 50;

} // namespace xlc::runtime

#endif
