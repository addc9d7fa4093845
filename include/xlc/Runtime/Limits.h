// What a spec may ask for and a program takes: the same numbers, so that no plan is made that its program refuses.
#ifndef XLC_RUNTIME_LIMITS_H
#define XLC_RUNTIME_LIMITS_H

#include <cstdint>

namespace xlc::runtime {

/// Ranks of one program. A plan may have more.
inline constexpr int64_t kMostRanks = 4096;

/// Threads of one rank.
inline constexpr int64_t kMostThreads = 1024;

/// Steps skipped in a row, since gradients overflow: a run that learns nothing ends.
inline constexpr uint64_t kMostSkippedInRow = 50;

} // namespace xlc::runtime

#endif
