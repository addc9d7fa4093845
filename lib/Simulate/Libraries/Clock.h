// Time of a simulated device: what is over for certain, from the view of one queue or of the host.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_CLOCK_H
#define XLC_LIB_SIMULATE_LIBRARIES_CLOCK_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace xlc::simulate {

/// Of each queue, how many of its items are over for certain. What is done on a queue is after all that its clock has.
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
