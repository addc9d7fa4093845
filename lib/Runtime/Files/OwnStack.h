// Makes the stack of a process independent of `ulimit -s`. Parsers, oneDNN and MLIR are tested with the 8 MiB of an
// ordinary system. With a lower limit they end with SIGSEGV, and no message can be printed.
#ifndef XLC_LIB_RUNTIME_FILES_OWNSTACK_H
#define XLC_LIB_RUNTIME_FILES_OWNSTACK_H

#include <functional>

namespace xlc::runtime {

/// Returns the result of `work`. Later threads get 8 MiB of stack. If this thread may have less, `work` runs on
/// another.
int runWithOwnStack(const std::function<int()> &work);

} // namespace xlc::runtime

#endif
