// The time of a simulated device: the work that is known to be complete, from the view of one queue or of the host.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_CLOCK_H
#define XLC_LIB_SIMULATE_LIBRARIES_CLOCK_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace xlc::simulate {

/// For each queue, the number of its items that are known to be complete. Work on a queue follows everything in its
/// clock.
constexpr size_t kMostQueues = 20;
struct Clock : std::array<uint32_t, kMostQueues> {
  Clock() : array{} {}
  void join(const Clock &other) {
    for (size_t i = 0; i < size(); ++i)
      (*this)[i] = std::max((*this)[i], other[i]);
  }
};

} // namespace xlc::simulate

#endif
