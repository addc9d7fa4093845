// The live ranges of the buffers of a program, in moments. An action that runs a function of n calls takes n moments,
// any other action takes one.
//
//   moment   0      1      2..6 (layer[0] F)      7..11 (layer[1] F) ...
//
// Within a run, a temporary is live from the first call that touches it to the last. The same holds for results, and
// for arguments that are not used afterwards. This allows gradients to reuse the memory of residuals.
#ifndef XLC_MEMORY_LIFETIMES_H
#define XLC_MEMORY_LIFETIMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Memory/Placement.h"

namespace xlc {

struct Lifetimes {
  std::vector<Interval> buffers; ///< one per buffer of the program, in order, with the buffer's size
  std::vector<int64_t> starts;   ///< the first moment of each action, in order
  int64_t moments = 0;
};

/// Every function that the program runs must be in its module. Persistent buffers are live throughout; buffers that no
/// action touches, at moment 0. `ignored`: treats actions on this stream as if they had no windows.
Lifetimes findLifetimes(exec::ProgramOp program, int64_t alignment = 1,
                        std::optional<exec::Stream> ignored = std::nullopt);

} // namespace xlc

#endif
