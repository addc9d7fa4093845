// The number of loads of rows that a rank reads ahead, into host memory outside its arena. The plan prints these bytes,
// and the program does not exceed them.
#ifndef XLC_RUNTIME_READAHEAD_H
#define XLC_RUNTIME_READAHEAD_H

#include <algorithm>
#include <cstdint>

namespace xlc::runtime {

/// The total over all ranks, and therefore of each process.
inline constexpr uint64_t kMostBytesAhead = 64 << 20;

struct ReadAhead {
  uint64_t loads = 0, bytesOfLoad = 0;
  uint64_t bytes() const { return loads * bytesOfLoad; }
};

/// For a rank that performs `loads` loads of at most `bytesOfLoad` bytes in a step: two steps, or as many loads as fit
/// its share of kMostBytesAhead, and at least one.
inline ReadAhead readAheadOf(uint64_t loads, uint64_t bytesOfLoad, uint64_t ranks) {
  uint64_t fitting = kMostBytesAhead / std::max<uint64_t>(ranks, 1) / std::max<uint64_t>(bytesOfLoad, 1);
  return {std::min(2 * loads, std::max<uint64_t>(fitting, 1)), bytesOfLoad};
}

} // namespace xlc::runtime

#endif
