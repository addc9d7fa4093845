// Counts bytes read from other ranks' arenas, by mesh axis and kind. They are counted where they are read and compared
// with the plan.
#ifndef XLC_LIB_RUNTIME_FABRIC_MOVEDBYTES_H
#define XLC_LIB_RUNTIME_FABRIC_MOVEDBYTES_H

#include "Plan_generated.h"

#include <array>
#include <cstdint>

namespace xlc::runtime {

struct MovedBytes {
  uint64_t allGather = 0, reduceScatter = 0, allReduce = 0, transfer = 0, allToAll = 0;

  uint64_t total() const { return allGather + reduceScatter + allReduce + transfer + allToAll; }
  void operator+=(const MovedBytes &other) {
    allGather += other.allGather, reduceScatter += other.reduceScatter, allReduce += other.allReduce;
    transfer += other.transfer, allToAll += other.allToAll;
  }
  void operator-=(const MovedBytes &other) {
    allGather -= other.allGather, reduceScatter -= other.reduceScatter, allReduce -= other.allReduce;
    transfer -= other.transfer, allToAll -= other.allToAll;
  }
};

/// Bytes by axis of the groups, in the numbering of plan::Axis.
class MovedByAxis {
public:
  MovedBytes &operator[](plan::Axis axis) { return all[(size_t)axis]; }
  const MovedBytes &operator[](plan::Axis axis) const { return all[(size_t)axis]; }
  uint64_t total() const {
    uint64_t sum = 0;
    for (const MovedBytes &axis : all)
      sum += axis.total();
    return sum;
  }
  void operator+=(const MovedByAxis &other) {
    for (size_t i = 0; i < all.size(); ++i)
      all[i] += other.all[i];
  }
  void operator-=(const MovedByAxis &other) {
    for (size_t i = 0; i < all.size(); ++i)
      all[i] -= other.all[i];
  }

private:
  std::array<MovedBytes, (size_t)plan::Axis::MAX + 1> all;
};

} // namespace xlc::runtime

#endif
