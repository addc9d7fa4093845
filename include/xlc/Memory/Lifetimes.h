// When the buffers of a program are live, in moments: an action that runs a function of n calls takes n of them, any
// other action takes one.
//
//   moment   0      1      2..6 (layer[0] F)      7..11 (layer[1] F) ...
//
// Within a run, a temporary lives from the call that touches it first to the one that touches it last; so do arguments
// that nobody needs afterwards and results, which is what lets residuals make room for gradients.
#ifndef XLC_MEMORY_LIFETIMES_H
#define XLC_MEMORY_LIFETIMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Memory/Placement.h"

namespace xlc {

struct Lifetimes {
  std::vector<Interval> buffers; ///< one per buffer of the program, in order; sizes are the buffers'
  std::vector<int64_t> starts;   ///< the first moment of each action, in order
  int64_t moments = 0;
};

/// Every function that the program runs must be in its module. Persistent buffers are live throughout; buffers that
/// nothing touches, at moment 0. `ignored`: as if actions on this stream had no windows.
Lifetimes findLifetimes(exec::ProgramOp program, int64_t alignment = 1,
                        std::optional<exec::Stream> ignored = std::nullopt);

} // namespace xlc

#endif
