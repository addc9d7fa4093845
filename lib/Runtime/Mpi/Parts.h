// MPI counts are ints: a message that is too large for an int is cut into parts, equally on both sides.
#ifndef XLC_LIB_RUNTIME_MPI_PARTS_H
#define XLC_LIB_RUNTIME_MPI_PARTS_H

#include "Fabric/Wire.h"

#include <algorithm>

namespace xlc::runtime::mpi {

constexpr uint64_t mostBytesOfPart = 1 << 30;

/// Calls visit(runs) for the parts of a message: the whole message if it has at most `most` bytes, otherwise parts of
/// each single run. The sizes of the parts depend only on the sizes of the runs, not on their places.
template <class Visit> void forEachPart(const Runs &memory, uint64_t most, Visit visit) {
  if (memory.bytes * memory.outer * memory.rows <= most)
    return visit(memory);
  for (uint64_t outer = 0; outer < memory.outer; ++outer)
    for (uint64_t row = 0; row < memory.rows; ++row)
      for (uint64_t at = 0; at < memory.bytes; at += most)
        visit(Runs{memory.begin + outer * memory.steps.outer + row * memory.steps.row + at,
                   std::min(most, memory.bytes - at)});
}

} // namespace xlc::runtime::mpi

#endif
