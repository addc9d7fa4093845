// How many loads of rows a rank reads ahead, in memory of the host beside its arena: the plan prints these
// bytes, and the program has no more.
#ifndef XLC_RUNTIME_READAHEAD_H
#define XLC_RUNTIME_READAHEAD_H

#include <algorithm>
#include <cstdint>

namespace xlc::runtime {

/// Of all ranks together, and so of each process.
inline constexpr uint64_t kMostBytesAhead = 64 << 20;

struct ReadAhead {
  uint64_t loads = 0, bytesOfLoad = 0;
  uint64_t bytes() const { return loads * bytesOfLoad; }
};

/// Of a rank that in a step loads `loads` times at most `bytesOfLoad` bytes: two steps, or as many loads as its part of
/// kMostBytesAhead holds, and one at least.
inline ReadAhead readAheadOf(uint64_t loads, uint64_t bytesOfLoad, uint64_t ranks) {
  uint64_t fitting = kMostBytesAhead / std::max<uint64_t>(ranks, 1) / std::max<uint64_t>(bytesOfLoad, 1);
  return {std::min(2 * loads, std::max<uint64_t>(fitting, 1)), bytesOfLoad};
}

} // namespace xlc::runtime

#endif
